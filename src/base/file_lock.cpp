// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace cudaenv::base {
namespace {

// What file systems answer that have no locks; 524 is the kernel's internal ENOTSUPP, which some let through.
bool means_no_locks(int error) {
  return error == ENOLCK || error == EBADF || error == ENOSYS || error == EOPNOTSUPP || error == 524;
}

// Whether the open file is still the one at the path: the last holder may have removed it meanwhile.
bool is_still_at(const Fd& fd, const Path& path) {
  struct stat opened;
  struct stat current;
  return ::fstat(*fd, &opened) == 0 && ::stat(path.c_str(), &current) == 0 && opened.st_ino == current.st_ino &&
         opened.st_dev == current.st_dev;
}

long holder_of(const Path& path) {
  long pid = 0;
  const auto content = read_file(path, 64);
  if (content && *content) std::from_chars((*content)->data(), (*content)->data() + (*content)->size(), pid);
  return pid;
}

}  // namespace

Result<std::optional<FileLock>> FileLock::try_acquire(const Path& path) {
  while (true) {
    // Read and write: NFS turns flock into a lock that needs both.
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd)
      return fail(file_error("write to", path.parent_path(), errno));  // the file itself means nothing to a person
    if (::flock(*fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::nullopt;
      if (errno == EINTR) continue;
      if (!means_no_locks(errno)) return fail(file_error("lock", path, errno));
    }
    if (!is_still_at(fd, path)) continue;
    // For the person who waits; nothing depends on it.
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(*fd, 0) == 0) (void)write_all(fd, pid, path);
    return FileLock(std::move(fd), path);
  }
}

Result<FileLock> FileLock::acquire(const Path& path, const std::function<void(long)>& on_wait, int deadline_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  bool is_told = false;
  while (true) {
    CUDAENV_TRY(lock, try_acquire(path));
    if (lock) return std::move(*lock);
    if (is_interrupted()) return fail(interrupted_error());
    const auto waited = Clock::now() - start;
    if (!is_told && waited >= std::chrono::seconds(1)) {
      on_wait(holder_of(path));
      is_told = true;
    }
    if (is_told && waited >= std::chrono::seconds(deadline_seconds))
      return fail(ErrorKind::locked, fmt::format("{} is held by process {}", escaped(path.native()), holder_of(path)));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

FileLock::~FileLock() {
  if (m_fd && is_still_at(m_fd, m_path)) ::unlink(m_path.c_str());
}

}  // namespace cudaenv::base
