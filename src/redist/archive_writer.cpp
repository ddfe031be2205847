// SPDX-License-Identifier: Apache-2.0
#include "redist/archive_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "redist/file_bank.hpp"
#include "redist/member_path.hpp"

// Nothing here takes a path of more than one part to the kernel: each directory is opened from the one above it,
// never following a link, and each file, link or directory is created by its bare name in the directory so opened,
// never over something that exists. So no sequence of members can lead out of the destination, whatever the names
// were checked for before, and no other process can swap a directory for a link between a check and its use.
// This is what libarchive's own disk writer has its three SECURE flags for. It is not used because it takes paths
// from the working directory only: absolute ones rule out SECURE_NOABSOLUTEPATHS and make SECURE_SYMLINKS judge
// the user's own directories above the destination, relative ones need a chdir of the whole process. It also
// checks first and opens by path later, replaces what exists, and gives no digest of what it wrote.

namespace cudaenv::redist {
namespace {

constexpr mode_t k_directory_mode = 0755;

// An installed tree can be read by everyone, whatever the umask, and written by no one else.
mode_t file_mode(mode_t in_archive) {
  return (in_archive & mode_t{0200}) | mode_t{0444} | ((in_archive & mode_t{0100}) != 0 ? mode_t{0111} : mode_t{0});
}

tl::unexpected<Error> hostile(std::string_view what) { return fail(ErrorKind::integrity, std::string(what)); }

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// Null-terminated, as it ends where the path ends.
const char* name_of(const std::string& path) { return path.c_str() + (path.rfind('/') + 1); }

constexpr std::string_view k_twice = "is in the archive twice";

}  // namespace

Result<TreeWriter> TreeWriter::open(const base::Path& directory, const FileBank* bank) {
  base::Fd root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail(base::file_error("unpack into", directory, errno));
  return TreeWriter(directory, std::move(root), bank);
}

Error TreeWriter::failure(std::string_view action, const std::string& path, int system_error) const {
  return base::file_error(action, m_directory / path, system_error);
}

void TreeWriter::record(UnpackedEntry entry) {
  m_places.emplace(entry.path, m_entries.size());
  m_entries.push_back(std::move(entry));
}

const UnpackedEntry* TreeWriter::find(const std::string& path) const {
  const auto place = m_places.find(path);
  return place == m_places.end() ? nullptr : &m_entries[place->second];
}

// Goes down part by part and creates what is not there. The mode is set apart from the creation: mkdir obeys the umask.
Result<base::Fd> TreeWriter::open_directory(std::string_view path) {
  base::Fd directory(::fcntl(*m_root, F_DUPFD_CLOEXEC, 0));
  if (!directory) return fail(failure("open", {}, errno));
  for (std::size_t end = 0; end < path.size(); ++end) {
    const std::size_t start = end;
    end = std::min(path.find('/', start), path.size());
    const std::string here(path.substr(0, end));
    const std::string name(path.substr(start, end - start));
    const bool is_new = ::mkdirat(*directory, name.c_str(), 0700) == 0;
    if (!is_new && errno != EEXIST) return fail(failure("create", here, errno));
    base::Fd below(::openat(*directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below && (errno == ENOTDIR || errno == ELOOP)) return hostile("takes a file or a link for a directory");
    if (!below) return fail(failure("open", here, errno));
    if (is_new) {
      if (::fchmod(*below, k_directory_mode) != 0) return fail(failure("set the permissions of", here, errno));
      record({.type = EntryType::directory, .path = here, .mode = k_directory_mode});
    }
    directory = std::move(below);
  }
  return directory;
}

Result<void> TreeWriter::make_directory(const std::string& path) {
  CUDAENV_CHECK(open_directory(path));
  return {};
}

Result<void> TreeWriter::make_link(const std::string& path, const std::string& target) {
  auto entered = check_link_target(path, target);
  if (!entered) return hostile(fmt::format("is a link whose target {}", words(entered.error())));
  CUDAENV_TRY(parent, open_directory(parent_of(path)));
  if (::symlinkat(target.c_str(), *parent, name_of(path)) != 0) {
    if (errno == EEXIST) return hostile(k_twice);
    return fail(failure("create the link", path, errno));
  }
  if (!entered->empty()) m_passages.push_back({path, std::move(*entered)});
  record({.type = EntryType::link, .path = path, .target = target});
  return {};
}

Result<void> TreeWriter::make_hard_link(const std::string& path, const std::string& existing) {
  const UnpackedEntry* found = find(existing);
  if (!found || found->type == EntryType::directory)
    return hostile("is a hard link to something that is no file before it in the archive");
  UnpackedEntry entry = *found;
  // A link may be relative, so under its second name its target is another one, to be judged anew.
  if (entry.type == EntryType::link) return make_link(path, entry.target);
  CUDAENV_TRY(from, open_directory(parent_of(existing)));
  CUDAENV_TRY(to, open_directory(parent_of(path)));
  if (::linkat(*from, name_of(existing), *to, name_of(path), 0) != 0) {
    if (errno == EEXIST) return hostile(k_twice);
    return fail(failure("create the hard link", path, errno));
  }
  entry.path = path;
  record(std::move(entry));
  return {};
}

Result<FileInProgress> TreeWriter::begin_file(const std::string& path) {
  CUDAENV_TRY(parent, open_directory(parent_of(path)));
  base::Fd fd(::openat(*parent, name_of(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd && errno == EEXIST) return hostile(k_twice);
  if (!fd) return fail(failure("create", path, errno));
  return FileInProgress{.path = path, .fd = std::move(fd)};
}

Result<void> TreeWriter::write(FileInProgress& file, std::uint64_t offset, std::string_view bytes,
                               const std::function<bool()>& keep_going) {
  static const std::string zeros(std::size_t{1} << 16, '\0');
  if (offset < file.size) return hostile("has parts that overlap");
  if (offset > file.size) {
    const auto end = static_cast<off_t>(offset);
    if (end < 0 || ::ftruncate(*file.fd, end) != 0 || ::lseek(*file.fd, end, SEEK_SET) != end)
      return fail(failure("write", file.path, end < 0 ? EFBIG : errno));
  }
  while (file.size < offset) {
    if (!keep_going()) return fail(ErrorKind::interrupted, "interrupted");
    const std::uint64_t count = std::min<std::uint64_t>(offset - file.size, zeros.size());
    file.digest.update(std::string_view(zeros).substr(0, static_cast<std::size_t>(count)));
    file.size += count;
  }
  file.digest.update(bytes);
  file.size += bytes.size();
  return base::write_all(file.fd, bytes, m_directory / file.path);
}

Result<void> TreeWriter::end_file(FileInProgress file, mode_t mode, const std::optional<timespec>& modified) {
  const mode_t kept = file_mode(mode);
  if (::fchmod(*file.fd, kept) != 0) return fail(failure("set the permissions of", file.path, errno));
  if (modified) {
    // Not worth failing for: some file systems keep no times, and nothing but the order of a build depends on them.
    const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, *modified};
    (void)::futimens(*file.fd, times);
  }
  // A file system on a network reports a full disk or quota when a descriptor is closed; any descriptor will do.
  const int last = ::dup(*file.fd);
  if (last < 0 || ::close(last) != 0) return fail(failure("write", file.path, errno));
  std::string digest = file.digest.finish();
  if (digest.empty()) return fail(ErrorKind::internal, "the crypto library cannot compute SHA-256");
  UnpackedEntry entry{.type = EntryType::file,
                      .path = std::move(file.path),
                      .mode = kept,
                      .size = file.size,
                      .sha256 = std::move(digest)};
  if (m_bank && !m_bank->is_empty()) CUDAENV_CHECK(share(entry));
  record(std::move(entry));
  return {};
}

// Puts a file that is on the disk already in the place of the one that was just written, before that gets there.
Result<void> TreeWriter::share(const UnpackedEntry& entry) {
  CUDAENV_TRY(parent, open_directory(parent_of(entry.path)));
  const std::string beside = fmt::format(".share-{}", m_entries.size());
  if (!m_bank->link_file(entry.sha256, entry.size, entry.mode, *parent, beside.c_str())) {
    ::unlinkat(*parent, beside.c_str(), 0);  // the beginning of a copy, at most
    return {};
  }
  if (::renameat(*parent, beside.c_str(), *parent, name_of(entry.path)) != 0)
    return fail(failure("replace", entry.path, errno));
  return {};
}

Result<std::vector<UnpackedEntry>> TreeWriter::finish() && {
  for (const Passage& passage : m_passages) {
    for (const std::string& directory : passage.directories) {
      const UnpackedEntry* entry = find(directory);
      if (!entry || entry->type != EntryType::directory)
        return hostile(
            fmt::format("holds the link {}, whose target leaves by \"..\" what is no directory", passage.link));
    }
  }
  if (m_entries.empty()) return hostile("holds nothing");
  return std::move(m_entries);
}

}  // namespace cudaenv::redist
