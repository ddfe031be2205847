// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy of core/selection.hpp, but for variables, over the system calls that its user brings: libc's for the
// program (posix_system.hpp), raw ones for shims (shims/raw). Header only, without allocation and without any call into
// libc, of which it includes types and constants only.

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "core/selection_types.hpp"
#include "store/path_walk.hpp"

namespace cudaenv::store {

inline constexpr int k_never_waiting = O_NONBLOCK | O_NOCTTY | O_CLOEXEC;  // as opening a FIFO may

// Calls: see store/path_walk.hpp.
template <class Calls>
class FileSystem {
 public:
  core::ReadOutcome read(const char* path, char* buffer, std::size_t capacity) const {
    using core::ReadStatus;
    const int fd = open(path, O_RDONLY | k_never_waiting);
    if (fd < 0) return {failed_open(path, -fd), 0, -fd};
    struct stat info;
    core::ReadOutcome outcome{ReadStatus::ok, 0, 0};
    if (const int result = Calls::status_of(fd, info); result < 0)
      outcome = {ReadStatus::failed, 0, -result};
    else if (!S_ISREG(info.st_mode))
      outcome = {ReadStatus::not_a_file, 0, 0};
    while (outcome.status == ReadStatus::ok && outcome.size < capacity) {
      const long got = Calls::read(fd, buffer + outcome.size, capacity - outcome.size);
      if (got == 0) break;
      if (got > 0)
        outcome.size += static_cast<std::size_t>(got);
      else if (got != -EINTR)
        outcome = {ReadStatus::failed, 0, static_cast<int>(-got)};
    }
    Calls::close(fd);
    return outcome;
  }

  // Of what a path names, links followed; whether there is any.
  bool status(const char* path, struct stat& info) const { return Calls::status(path, info) == 0; }

  bool is_same_directory(const char* a, const char* b) const {
    struct stat first;
    struct stat second;
    return status(a, first) && status(b, second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  }

  bool is_current_directory(const char* path) const { return is_same_directory(path, "."); }

  // Of a directory too deep to be named, the nearest one above it that can be.
  bool current_directory(char* buffer, std::size_t capacity) const {
    return working_directory<Calls>(buffer, capacity);
  }

  core::PathKind kind(const char* path) const {
    struct stat info;
    if (Calls::link_status(path, info) != 0) return core::PathKind::absent;
    if (S_ISDIR(info.st_mode)) return core::PathKind::directory;
    return S_ISLNK(info.st_mode) ? core::PathKind::link : core::PathKind::other;
  }

  bool exists(const char* path) const {
    struct stat info;
    return status(path, info);
  }

  template <class F>
  void for_each_entry(const char* directory, F f) const {
    // Not opendir: it allocates, which costs a shim more than all the rest of its work.
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    alignas(dirent64) char entries[4096];
    while (true) {
      const long got = Calls::entries(fd, entries, sizeof entries);
      if (got <= 0) break;
      for (long at = 0; at < got;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
        f(std::string_view(entry->d_name));
        at += entry->d_reclen;
      }
    }
    Calls::close(fd);
  }

  void warn(const core::SelectionWarning&) const {}

 protected:
  static int open(const char* path, int flags) { return Calls::open_at(AT_FDCWD, path, flags); }

 private:
  // A file in a directory that we may not enter is as good as absent: nobody could have meant it for us. The
  // same error for the file itself is a fault that must be told.
  static core::ReadStatus failed_open(const char* path, int error) {
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG) return core::ReadStatus::absent;
    if (error == ENXIO) return core::ReadStatus::not_a_file;  // a socket
    struct stat info;
    if (error == EACCES && Calls::link_status(path, info) != 0) return core::ReadStatus::absent;
    return core::ReadStatus::failed;
  }
};

}  // namespace cudaenv::store
