// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policies of core/selection.hpp and core/gate_record.hpp over libc's calls, for the program.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/gate_files.hpp"

namespace cudaenv::store {

// See store/path_walk.hpp.
struct PosixCalls {
  static int open_at(int directory, const char* path, int flags) {
    return static_cast<int>(answer(::openat(directory, path, flags)));
  }
  static long read(int fd, char* buffer, std::size_t capacity) { return answer(::read(fd, buffer, capacity)); }
  static void close(int fd) { ::close(fd); }
  static int status(const char* path, struct stat& info) { return static_cast<int>(answer(::stat(path, &info))); }
  static int link_status(const char* path, struct stat& info) { return static_cast<int>(answer(::lstat(path, &info))); }
  static int status_of(int fd, struct stat& info) { return static_cast<int>(answer(::fstat(fd, &info))); }
  static long link_text(const char* path, char* buffer, std::size_t capacity) {
    return answer(::readlink(path, buffer, capacity));
  }
  static long entries(int fd, char* buffer, std::size_t capacity) {
    return answer(::syscall(SYS_getdents64, fd, buffer, capacity));
  }
  static long working_directory(char* buffer, std::size_t capacity) { return ::getcwd(buffer, capacity) ? 1 : -errno; }
  static std::uint64_t mount_of(const char* path) {
#ifdef STATX_MNT_ID
    struct statx info = {};
    if (::statx(AT_FDCWD, path, 0, STATX_MNT_ID, &info) == 0)
      return (info.stx_mask & STATX_MNT_ID) != 0 ? info.stx_mnt_id + 1 : 0;
#endif
    return 0;
  }
  static std::uint32_t user() { return ::geteuid(); }
  static std::int64_t now() { return ::time(nullptr); }

 private:
  static long answer(long result) { return result < 0 ? -errno : result; }
};

class PosixSystem : public GateFiles<PosixCalls> {
 public:
  const char* variable(const char* name) const { return std::getenv(name); }

  // f(const char* entry) with "NAME=value".
  template <class F>
  void for_each_variable(F f) const {
    for (char** entry = environ; entry && *entry; ++entry) f(*entry);
  }
};

}  // namespace cudaenv::store
