// SPDX-License-Identifier: Apache-2.0
#include "store/staging.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "store/disk_use.hpp"
#include "store/in_use.hpp"

namespace cudaenv::store {
namespace {

constexpr std::string_view k_staging_start = ".staging-";
constexpr std::string_view k_lock_end = ".lock";
constexpr std::string_view k_toolkit_lock_start = ".lock-";
constexpr std::string_view k_aside_start = ".old-";   // a toolkit that is being replaced in two steps
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

// Whether somebody has the lock; nothing is left behind by asking. Where there are no locks, somebody may.
bool is_held(const base::Path& path) {
  const base::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return errno != ENOENT;
  return ::flock(*fd, LOCK_EX | LOCK_NB) != 0;
}

base::Path toolkit_lock(const Root& root, std::string_view name) {
  return root.versions() / fmt::format("{}{}", k_toolkit_lock_start, name);
}

// The path of a dead process's directory, unless something of it is still in use.
Result<Removed> remove_unused(const base::Path& path, Removal removal) {
  if (process_using(path)) return Removed{};
  const auto uses = disk_uses({&path, 1});
  if (removal == Removal::real) CUDAENV_CHECK(base::remove_tree(path));
  return Removed{1, uses ? uses->trees.front().own : 0};  // what cannot be measured is removed all the same
}

// A toolkit that was moved aside: back to its place if its successor never got there, else removed.
Result<Removed> settle_aside(const Root& root, const std::string& name, std::string_view locked, Removal removal) {
  const base::Path aside = root.versions() / fmt::format("{}{}", k_aside_start, name);
  const auto is_replaced = [&] { return base::entry_kind(root.toolkit(name)) != base::EntryKind::absent; };
  if (removal == Removal::pretended) {
    if (name != locked && is_held(toolkit_lock(root, name))) return Removed{};
    return is_replaced() ? remove_unused(aside, removal) : Removed{1, 0};
  }
  std::optional<base::FileLock> lock;
  if (name != locked) {
    CUDAENV_TRY(taken, base::FileLock::try_acquire(toolkit_lock(root, name)));
    if (!taken) return Removed{};
    lock.emplace(std::move(*taken));
  }
  if (!is_real_lock(toolkit_lock(root, name))) return Removed{};
  if (is_replaced()) return remove_unused(aside, removal);
  CUDAENV_CHECK(base::rename_path(aside, root.toolkit(name)));
  return Removed{1, 0};
}

// A staging whose process is dead.
Result<Removed> remove_dead(const base::Path& path, Removal removal) {
  const base::Path lock_path = path.native() + std::string(k_lock_end);
  if (removal == Removal::pretended) return is_held(lock_path) ? Removed{} : remove_unused(path, removal);
  CUDAENV_TRY(lock, base::FileLock::try_acquire(lock_path));
  if (!lock || base::entry_kind(path) == base::EntryKind::absent || !is_real_lock(lock_path)) return Removed{};
  return remove_unused(path, removal);
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
  if (m_path.empty()) return;       // moved from, or abandoned
  (void)base::remove_tree(m_path);  // what cannot be removed now is removed by the next install
  m_lock.reset();
  for (auto path = m_created.rbegin(); path != m_created.rend(); ++path) ::rmdir(path->c_str());  // only if empty
}

void Staging::abandon() {
  m_path.clear();
  m_lock.reset();
}

Result<Removed> remove_dead_staging(const Root& root, std::string_view locked, Removal removal) {
  Removed removed;
  const auto add = [&](const Removed& more) {
    removed.count += more.count;
    removed.bytes += more.bytes;
  };
  CUDAENV_TRY(names, base::list_directory(root.versions()));
  for (std::string name : names) {
    if (name.starts_with(k_toolkit_lock_start)) {
      // Letting go of it removes a dead one's file.
      if (removal == Removal::real) (void)base::FileLock::try_acquire(root.versions() / name);
      continue;
    }
    if (name.starts_with(k_aside_start)) {
      const std::string aside_of = name.substr(k_aside_start.size());
      auto settled = settle_aside(root, aside_of, locked, removal);
      if (!settled && aside_of == locked) return fail(std::move(settled).error());  // this one is in the caller's way
      if (settled) add(*settled);
    }
    if (!name.starts_with(k_staging_start)) continue;
    if (name.ends_with(k_lock_end)) {
      name.resize(name.size() - k_lock_end.size());
      if (std::binary_search(names.begin(), names.end(), name)) continue;  // done with its directory
    }
    if (const auto gone = remove_dead(root.versions() / name, removal))
      add(*gone);  // else another user's: in nobody's way
  }
  return removed;
}

Result<void> take_away(const Root& root, std::string_view name, const Staging& staging) {
  CUDAENV_CHECK(base::rename_path(root.toolkit(name), staging.path() / "removed"));
  const base::Path aside = root.versions() / fmt::format("{}{}", k_aside_start, name);
  if (base::entry_kind(aside) == base::EntryKind::absent) return {};
  return base::rename_path(aside, staging.path() / "aside");
}

Result<base::FileLock> lock_toolkit(const Root& root, std::string_view name, const std::function<void(long)>& on_wait) {
  return base::FileLock::acquire(toolkit_lock(root, name), on_wait, k_longest_wait_seconds);
}

Result<void> commit_toolkit(const base::Path& from, const base::Path& to) {
  if (base::entry_kind(to) == base::EntryKind::absent) {
    CUDAENV_CHECK(base::rename_path(from, to));
  } else if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return fail(base::file_error("replace", to, errno));
    // A file system without exchange: the toolkit is away for the moment between two renames, and safe outside of the
    // staging, which may go with this process.
    const base::Path aside = to.parent_path() / (std::string(k_aside_start) + to.filename().native());
    CUDAENV_CHECK(base::rename_path(to, aside));
    if (auto renamed = base::rename_path(from, to); !renamed) {
      (void)base::rename_path(aside, to);  // else the next install does it
      return renamed;
    }
    (void)base::rename_path(aside, from);  // else it stays aside
  }
  return sync_directory(to.parent_path());
}

}  // namespace cudaenv::store
