// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::base {

// An exclusive lock on a file made for it. The kernel holds it, so it ends with the process, however that
// ends. The file is removed on release. Where the file system has no locks (some network ones) the lock is
// taken to be held: callers stay correct by unique names and atomic renames, the lock only saves work.
class FileLock {
 public:
  // Waits until the lock is free; `on_wait` is called once, after a second of waiting, with the holder's
  // process id as the file tells it (0: unknown). Gives up when `on_wait` was called and `deadline_seconds` passed,
  // or when interrupted.
  [[nodiscard]] static Result<FileLock> acquire(const Path& path, const std::function<void(long)>& on_wait,
                                                int deadline_seconds);

  // At once or not at all.
  [[nodiscard]] static Result<std::optional<FileLock>> try_acquire(const Path& path);

  // After a fork: the child alone holds it from now on.
  void leave_to_child() { m_fd = Fd(); }

  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = delete;
  ~FileLock();

 private:
  FileLock(Fd fd, Path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

  Fd m_fd;
  Path m_path;
};

}  // namespace cudaenv::base
