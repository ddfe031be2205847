// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::base {
namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

std::optional<struct stat> stat_of(const Path& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

Result<std::vector<std::string>> names_in(const Path& path, int directory_fd) {
  std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(directory_fd));
  if (!stream) {
    const int reason = errno;
    ::close(directory_fd);
    return fail(file_error("list", path, reason));
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(file_error("list", path, errno));
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> remove_at(int parent, const std::string& name, const Path& path) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(file_error("remove", path, errno));
  // Read-only directories come out of archives; give ourselves the right to empty them.
  Fd directory(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == EACCES && ::fchmodat(parent, name.c_str(), 0700, 0) == 0)
    directory = Fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return fail(file_error("remove", path, errno));
  struct stat info;
  if (::fstat(*directory, &info) == 0 && (info.st_mode & 0700) != 0700) (void)::fchmod(*directory, 0700);
  CUDAENV_TRY(names, names_in(path, ::fcntl(*directory, F_DUPFD_CLOEXEC, 0)));
  for (const std::string& child : names) CUDAENV_CHECK(remove_at(*directory, child, path / child));
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return fail(file_error("remove", path, errno));
  return {};
}

// The kernel copies what it can, which may be nothing or share blocks; what is left goes through here.
Result<void> copy_bytes(const Fd& from, const Fd& to, const Path& path) {
  constexpr std::size_t k_at_once = std::size_t{1} << 30;
  while (::copy_file_range(*from, nullptr, *to, nullptr, k_at_once, 0) > 0) continue;
  std::string chunk(std::size_t{256} << 10, '\0');
  while (true) {
    const ssize_t got = ::read(*from, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_error("copy", path, errno));
    if (got == 0) return {};
    CUDAENV_CHECK(write_all(to, std::string_view(chunk.data(), static_cast<std::size_t>(got)), path));
  }
}

// What the path stands for when all links at its end are followed, one that leads nowhere too.
Result<Path> behind_links(const Path& path) {
  constexpr int k_most_links = 40;  // as many as the kernel follows
  Path target = path;
  for (int links = 0; entry_kind(target) == EntryKind::link; ++links) {
    if (links == k_most_links) return fail(file_error("write", path, ELOOP));
    CUDAENV_TRY(next, link_target(target));
    target = target.parent_path() / next;
  }
  return target;
}

}  // namespace

Error file_error(std::string_view action, const Path& path, int system_error) {
  Error error{ErrorKind::filesystem,
              fmt::format("cannot {} {}: {}", action, escaped(path.native()), std::strerror(system_error))};
  if (system_error == ENOSPC || system_error == EDQUOT)
    error.hint = fmt::format("df -h {}", escaped(path.parent_path().native()));
  return error;
}

EntryKind entry_kind(const Path& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return EntryKind::absent;
  if (S_ISREG(info.st_mode)) return EntryKind::file;
  if (S_ISDIR(info.st_mode)) return EntryKind::directory;
  return S_ISLNK(info.st_mode) ? EntryKind::link : EntryKind::other;
}

bool path_exists(const Path& path) { return stat_of(path).has_value(); }

bool directory_exists(const Path& path) {
  const auto info = stat_of(path);
  return info && S_ISDIR(info->st_mode);
}

bool executable_exists(const Path& path) {
  const auto info = stat_of(path);
  return info && S_ISREG(info->st_mode) && (info->st_mode & 0111) != 0;
}

Result<std::optional<std::string>> read_file(const Path& path, std::uint64_t most) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fail(file_error("read", path, errno));
  }
  struct stat info;
  if (::fstat(*fd, &info) != 0) return fail(file_error("read", path, errno));
  if (S_ISDIR(info.st_mode)) return fail(file_error("read", path, EISDIR));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::filesystem, fmt::format("{} is not a file", escaped(path.native())));
  std::string content;
  std::string chunk(std::size_t{64} << 10, '\0');
  while (true) {
    const ssize_t got = ::read(*fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_error("read", path, errno));
    if (got == 0) return content;
    content.append(chunk, 0, static_cast<std::size_t>(got));
    if (content.size() > most)
      return fail(ErrorKind::filesystem, fmt::format("{} is larger than {}", escaped(path.native()), human_size(most)));
  }
}

Result<void> write_all(const Fd& fd, std::string_view bytes, const Path& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(*fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(file_error("write", path, errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> copy_file(const Path& from, int directory, const char* name) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!source || ::fstat(*source, &info) != 0) return fail(file_error("copy", from, errno));
  if (!S_ISREG(info.st_mode)) return fail(file_error("copy", from, EINVAL));
  const Fd copy(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!copy) return fail(file_error("copy", from, errno));
  const auto undo = [&](Error error) {
    ::unlinkat(directory, name, 0);
    return fail(std::move(error));
  };
  if (auto copied = copy_bytes(source, copy, from); !copied) return undo(std::move(copied).error());
  const timespec times[2] = {info.st_atim, info.st_mtim};
  if (::fchmod(*copy, info.st_mode & 0777) != 0 || ::futimens(*copy, times) != 0)
    return undo(file_error("copy", from, errno));
  return {};
}

Result<void> link_or_copy(const Path& from, int directory, const char* name) {
  if (::linkat(AT_FDCWD, from.c_str(), directory, name, 0) == 0) return {};
  if (errno == EPERM || errno == EXDEV || errno == EOPNOTSUPP || errno == EMLINK)
    return copy_file(from, directory, name);
  return fail(file_error("link", from, errno));
}

Result<void> write_file(const Path& path, std::string_view content, mode_t mode, Durable durable) {
  CUDAENV_TRY(target, behind_links(path));
  if (const auto info = stat_of(target)) mode = info->st_mode & 07777;

  std::string temporary = target.native() + ".XXXXXX";
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return fail(file_error("write", path, errno));
  const auto undo = [&](Error error) {
    ::unlink(temporary.c_str());
    return fail(std::move(error));
  };
  if (auto written = write_all(fd, content, path); !written) return undo(std::move(written).error());
  if (::fchmod(*fd, mode) != 0) return undo(file_error("write", path, errno));
  if (durable == Durable::yes && ::fsync(*fd) != 0) return undo(file_error("write", path, errno));
  if (::rename(temporary.c_str(), target.c_str()) != 0) return undo(file_error("write", path, errno));
  return {};
}

Result<std::vector<Path>> make_directories(const Path& path) {
  std::vector<Path> created;
  Path upward = path;
  std::vector<Path> missing;
  while (!upward.empty() && !path_exists(upward)) {
    missing.push_back(upward);
    if (upward == upward.parent_path()) break;
    upward = upward.parent_path();
  }
  for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
    if (::mkdir(next->c_str(), 0755) != 0) {
      if (errno == EEXIST && directory_exists(*next)) continue;
      const int reason = errno;
      for (auto undo = created.rbegin(); undo != created.rend(); ++undo) ::rmdir(undo->c_str());
      return fail(file_error("create", *next, reason));
    }
    (void)::chmod(next->c_str(), 0755);
    created.push_back(*next);
  }
  if (!directory_exists(path)) return fail(file_error("create", path, ENOTDIR));
  return created;
}

Result<void> remove_tree(const Path& path) {
  const Path parent = path.has_parent_path() ? path.parent_path() : Path(".");
  const Fd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    if (errno == ENOENT) return {};
    return fail(file_error("remove", path, errno));
  }
  return remove_at(*directory, path.filename().native(), path);
}

Result<std::vector<std::string>> list_directory(const Path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::vector<std::string>();
    return fail(file_error("list", path, errno));
  }
  return names_in(path, fd);
}

Result<void> rename_path(const Path& from, const Path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail(file_error("rename to", to, errno));
  return {};
}

Result<void> make_link(const Path& target, const Path& link) {
  if (::symlink(target.c_str(), link.c_str()) != 0) return fail(file_error("create the link", link, errno));
  return {};
}

Result<Path> link_target(const Path& link) {
  std::string buffer(4096, '\0');
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  if (size < 0) return fail(file_error("read the link", link, errno));
  buffer.resize(static_cast<std::size_t>(size));
  return Path(buffer);
}

Result<std::uint64_t> free_space(const Path& path) {
  Path nearest = path;
  while (!path_exists(nearest) && nearest != nearest.parent_path()) nearest = nearest.parent_path();
  struct statvfs info;
  if (::statvfs(nearest.c_str(), &info) != 0) return fail(file_error("measure the free space of", nearest, errno));
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace cudaenv::base
