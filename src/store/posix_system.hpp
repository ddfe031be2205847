// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy of core/selection.hpp over POSIX calls, for the program and the static command shim. Header
// only and without allocation of its own, so that a shim pulls in nothing else.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/fingerprint.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::store {

class PosixSystem {
 public:
  const char* variable(const char* name) const { return std::getenv(name); }

  core::ReadOutcome read(const char* path, char* buffer, std::size_t capacity) const {
    using core::ReadStatus;
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    const int fd = ::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return {failed_open(path, errno), 0, errno};
    struct stat info;
    core::ReadOutcome outcome{ReadStatus::ok, 0, 0};
    if (::fstat(fd, &info) != 0)
      outcome = {ReadStatus::failed, 0, errno};
    else if (!S_ISREG(info.st_mode))
      outcome = {ReadStatus::not_a_file, 0, 0};
    while (outcome.status == ReadStatus::ok && outcome.size < capacity) {
      const ssize_t got = ::read(fd, buffer + outcome.size, capacity - outcome.size);
      if (got == 0) break;
      if (got > 0)
        outcome.size += static_cast<std::size_t>(got);
      else if (errno != EINTR)
        outcome = {ReadStatus::failed, 0, errno};
    }
    ::close(fd);
    return outcome;
  }

  bool is_same_directory(const char* a, const char* b) const {
    struct stat first;
    struct stat second;
    return ::stat(a, &first) == 0 && ::stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
  }

  bool is_current_directory(const char* path) const { return is_same_directory(path, "."); }

  bool current_directory(char* buffer, std::size_t capacity) const { return ::getcwd(buffer, capacity) != nullptr; }

  core::PathKind kind(const char* path) const {
    struct stat info;
    if (::lstat(path, &info) != 0) return core::PathKind::absent;
    if (S_ISDIR(info.st_mode)) return core::PathKind::directory;
    return S_ISLNK(info.st_mode) ? core::PathKind::link : core::PathKind::other;
  }

  bool exists(const char* path) const {
    struct stat info;
    return ::stat(path, &info) == 0;
  }

  template <class F>
  void for_each_entry(const char* directory, F f) const {
    // Not opendir: it allocates, which costs a shim more than all the rest of its work.
    const int fd = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    alignas(dirent64) char entries[4096];
    while (true) {
      const long got = ::syscall(SYS_getdents64, fd, entries, sizeof entries);
      if (got <= 0) break;
      for (long at = 0; at < got;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
        f(std::string_view(entry->d_name));
        at += entry->d_reclen;
      }
    }
    ::close(fd);
  }

  void warn(const core::SelectionWarning&) const {}

  // --- For core/gate_record.hpp ---

  core::FileStamp stamp(const char* path) const {
    struct stat info;
    if (::stat(path, &info) != 0) return {};
    return {true,          info.st_dev,         info.st_ino, static_cast<std::uint64_t>(info.st_size),
            info.st_mtime, info.st_mtim.tv_nsec};
  }

  std::size_t read_once(const char* path, char* buffer, std::size_t capacity) const {
    return read_once(::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), buffer, capacity);
  }

  std::size_t read_own(const char* path, char* buffer, std::size_t capacity) const {
    const int fd = ::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat info;
    const bool is_own = fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
                        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (is_own) return read_once(fd, buffer, capacity);
    if (fd >= 0) ::close(fd);
    return 0;
  }

  std::size_t link_text(const char* link, char* buffer, std::size_t capacity) const {
    const ssize_t size = ::readlink(link, buffer, capacity);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }

  bool is_own_directory(const char* path) const {
    struct stat info;
    return ::stat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }

  bool is_private_directory(const char* path) const {
    struct stat info;
    return ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
           (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  }

  std::uint64_t user() const { return ::geteuid(); }
  std::int64_t now() const { return ::time(nullptr); }

 private:
  // Closes it.
  static std::size_t read_once(int fd, char* buffer, std::size_t capacity) {
    if (fd < 0) return 0;
    ssize_t size;
    do size = ::read(fd, buffer, capacity);
    while (size < 0 && errno == EINTR);
    ::close(fd);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }

  // A file in a directory that we may not enter is as good as absent: nobody could have meant it for us. The
  // same error for the file itself is a fault that must be told.
  static core::ReadStatus failed_open(const char* path, int error) {
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG) return core::ReadStatus::absent;
    if (error == ENXIO) return core::ReadStatus::not_a_file;  // a socket
    struct stat info;
    if (error == EACCES && ::lstat(path, &info) != 0) return core::ReadStatus::absent;
    return core::ReadStatus::failed;
  }
};

}  // namespace cudaenv::store
