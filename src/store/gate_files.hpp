// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy of core/gate_record.hpp, but for variables; under the rules of file_system.hpp.

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/fingerprint.hpp"
#include "store/file_system.hpp"

namespace cudaenv::store {

template <class Calls>
class GateFiles : public FileSystem<Calls> {
 public:
  core::FileStamp stamp(const char* path) const {
    struct stat info;
    if (!this->status(path, info)) return {};
    return {true,          info.st_dev,          info.st_ino,   static_cast<std::uint64_t>(info.st_size),
            info.st_mtime, info.st_mtim.tv_nsec, info.st_ctime, info.st_ctim.tv_nsec};
  }

  std::size_t read_once(const char* path, char* buffer, std::size_t capacity) const {
    return read_once(this->open(path, O_RDONLY | k_never_waiting), buffer, capacity);
  }

  std::size_t read_own(const char* path, char* buffer, std::size_t capacity) const {
    const int fd = this->open(path, O_RDONLY | O_NOFOLLOW | k_never_waiting);
    struct stat info;
    const bool is_own = fd >= 0 && Calls::status_of(fd, info) == 0 && S_ISREG(info.st_mode) &&
                        is_closed_to_others(info, S_IWGRP | S_IWOTH);
    if (is_own) return read_once(fd, buffer, capacity);
    if (fd >= 0) Calls::close(fd);
    return 0;
  }

  std::size_t link_text(const char* link, char* buffer, std::size_t capacity) const {
    const long size = Calls::link_text(link, buffer, capacity);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }

  bool is_own_directory(const char* path) const {
    struct stat info;
    return this->status(path, info) && S_ISDIR(info.st_mode) && is_closed_to_others(info, S_IWGRP | S_IWOTH);
  }

  bool is_private_directory(const char* path) const {
    struct stat info;
    return Calls::link_status(path, info) == 0 && S_ISDIR(info.st_mode) && is_closed_to_others(info, S_IRWXG | S_IRWXO);
  }

  std::uint64_t mount_of(const char* path) const { return Calls::mount_of(path); }
  std::uint64_t user() const { return Calls::user(); }
  std::int64_t now() const { return Calls::now(); }

 private:
  static bool is_closed_to_others(const struct stat& info, mode_t rights) {
    return info.st_uid == Calls::user() && (info.st_mode & rights) == 0;
  }

  // Closes it.
  static std::size_t read_once(int fd, char* buffer, std::size_t capacity) {
    if (fd < 0) return 0;
    long size;
    do size = Calls::read(fd, buffer, capacity);
    while (size == -EINTR);
    Calls::close(fd);
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }
};

}  // namespace cudaenv::store
