// SPDX-License-Identifier: Apache-2.0
#include "store/cache.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::store {
namespace {

// An archive is named by its digest; one that is not whole has an end of its own, as has what is known of its download.
constexpr std::size_t k_digest_size = 64;
constexpr std::string_view k_partial_end = ".part";
constexpr std::string_view k_origin_end = ".json";

bool is_archive_name(std::string_view name) {
  return name.size() == k_digest_size && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name_with(std::string_view name, std::string_view end) {
  return name.ends_with(end) && is_archive_name(name.substr(0, name.size() - end.size()));
}

// Of the file, if it is one and nobody has it locked; the lock goes with the result.
struct Taken {
  base::Fd lock = base::Fd();
  struct stat info = {};
  bool is_in_use = false;
};

std::optional<Taken> take(const base::Path& path) {
  constexpr int k_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  Taken taken;
  taken.lock = base::Fd(::open(path.c_str(), O_RDWR | k_flags));
  if (!taken.lock && errno == EACCES) taken.lock = base::Fd(::open(path.c_str(), O_RDONLY | k_flags));
  if (!taken.lock || ::fstat(*taken.lock, &taken.info) != 0 || !S_ISREG(taken.info.st_mode)) return std::nullopt;
  taken.is_in_use = ::flock(*taken.lock, LOCK_EX | LOCK_NB) != 0;
  return taken;
}

Result<void> remove_file(const base::Path& path, const struct stat& info, Removal removal, Removed& removed) {
  if (removal == Removal::real && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail(base::file_error("remove", path, errno));
  if (info.st_nlink == 1) removed.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  return {};
}

// The file beside a partial one, which means nothing without it; whether there was one.
Result<bool> remove_origin(const base::Path& path, Removal removal, Removed& removed) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  CUDAENV_CHECK(remove_file(path, info, removal, removed));
  return true;
}

// Whether there is such a directory and not a link to one.
bool is_directory(const base::Path& path, CacheRemoved& removed) {
  const base::EntryKind kind = base::entry_kind(path);
  if (kind == base::EntryKind::link) removed.links.push_back(path);
  return kind == base::EntryKind::directory;
}

}  // namespace

Result<CacheRemoved> remove_cached(const Root& root, Removal removal) {
  CacheRemoved removed;
  const base::Path directory = root.cached_archives();
  if (!is_directory(directory.parent_path(), removed) || !is_directory(directory, removed)) return removed;
  CUDAENV_TRY(names, base::list_directory(directory));
  for (const std::string& name : names) {
    const bool is_partial = is_name_with(name, k_partial_end);
    if (!is_partial && !is_archive_name(name)) continue;
    const auto taken = take(directory / name);
    if (!taken) continue;
    if (taken->is_in_use) {
      ++removed.in_use;
      continue;
    }
    Removed& kind = is_partial ? removed.partials : removed.archives;
    CUDAENV_CHECK(remove_file(directory / name, taken->info, removal, kind));
    ++kind.count;
    if (is_partial)
      CUDAENV_CHECK(
          remove_origin(directory / (name.substr(0, k_digest_size) + std::string(k_origin_end)), removal, kind));
  }
  for (const std::string& name : names) {
    const std::string partial = name.substr(0, k_digest_size) + std::string(k_partial_end);
    if (!is_name_with(name, k_origin_end) || std::binary_search(names.begin(), names.end(), partial)) continue;
    CUDAENV_TRY(was_there, remove_origin(directory / name, removal, removed.partials));
    removed.partials.count += was_there ? 1 : 0;
  }
  return removed;
}

}  // namespace cudaenv::store
