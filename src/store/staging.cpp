// SPDX-License-Identifier: Apache-2.0
#include "store/staging.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudaenv::store {
namespace {

constexpr std::string_view k_staging_start = ".staging-";
constexpr std::string_view k_lock_end = ".lock";
constexpr std::string_view k_toolkit_lock_start = ".lock-";
constexpr int k_longest_wait_seconds = 24 * 60 * 60;  // an install over a slow link may take hours

Result<void> sync_directory(const base::Path& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems cannot sync a directory; what they promise is then all there is.
  if (!fd || (::fsync(*fd) != 0 && errno != EINVAL && errno != EROFS && errno != EBADF))
    return fail(base::file_error("sync", path, errno));
  return {};
}

// Whether the lock that was taken is one: without locks on the file system everybody gets it, and so do we once more.
bool is_real_lock(const base::Path& path) {
  const base::Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return again && ::flock(*again, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

Result<Staging> Staging::create(const Root& root, std::string_view purpose) {
  CUDAENV_TRY(created, base::make_directories(root.versions()));
  const auto undo = [&](Error error) {
    for (auto path = created.rbegin(); path != created.rend(); ++path) ::rmdir(path->c_str());
    return fail(std::move(error));
  };
  for (int attempt = 0;; ++attempt) {
    const base::Path path = root.versions() / fmt::format("{}{}-{}-{}", k_staging_start, purpose, ::getpid(), attempt);
    // The lock is taken before the directory is there, so that no one can take the directory for a dead one's.
    auto lock = base::FileLock::try_acquire(path.native() + std::string(k_lock_end));
    if (!lock) return undo(std::move(lock).error());
    if (*lock && ::mkdir(path.c_str(), 0700) == 0) return Staging(std::move(**lock), path, std::move(created));
    if (*lock && errno != EEXIST) return undo(base::file_error("create", path, errno));
    if (attempt == 1000) return undo(base::file_error("create", path, EEXIST));
  }
}

Staging::~Staging() {
  if (!m_lock) return;              // moved from
  (void)base::remove_tree(m_path);  // what cannot be removed now is removed by the next install
  m_lock.reset();
  for (auto path = m_created.rbegin(); path != m_created.rend(); ++path) ::rmdir(path->c_str());  // only if empty
}

Result<int> remove_dead_staging(const Root& root) {
  int removed = 0;
  CUDAENV_TRY(names, base::list_directory(root.versions()));
  for (std::string name : names) {
    if (name.starts_with(k_toolkit_lock_start)) {
      (void)base::FileLock::try_acquire(root.versions() / name);  // letting go of it removes a dead one's file
      continue;
    }
    if (!name.starts_with(k_staging_start)) continue;
    if (name.ends_with(k_lock_end)) name.resize(name.size() - k_lock_end.size());
    const base::Path path = root.versions() / name;
    const base::Path lock_path = path.native() + std::string(k_lock_end);
    auto lock = base::FileLock::try_acquire(lock_path);
    if (!lock) return fail(std::move(lock).error());
    if (!*lock || base::entry_kind(path) == base::EntryKind::absent || !is_real_lock(lock_path)) continue;
    CUDAENV_CHECK(base::remove_tree(path));
    ++removed;
  }
  return removed;
}

Result<base::FileLock> lock_toolkit(const Root& root, std::string_view name, const std::function<void(long)>& on_wait) {
  return base::FileLock::acquire(root.versions() / fmt::format("{}{}", k_toolkit_lock_start, name), on_wait,
                                 k_longest_wait_seconds);
}

Result<void> commit_toolkit(const base::Path& from, const base::Path& to) {
  if (base::entry_kind(to) == base::EntryKind::absent) {
    CUDAENV_CHECK(base::rename_path(from, to));
  } else if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return fail(base::file_error("replace", to, errno));
    // A file system without exchange: the toolkit is away for the moment between two renames.
    const base::Path old = from.native() + ".old";
    CUDAENV_CHECK(base::rename_path(to, old));
    if (auto renamed = base::rename_path(from, to); !renamed) {
      CUDAENV_CHECK(base::rename_path(old, to));
      return renamed;
    }
    CUDAENV_CHECK(base::rename_path(old, from));
  }
  return sync_directory(to.parent_path());
}

}  // namespace cudaenv::store
