// SPDX-License-Identifier: Apache-2.0
#pragma once

// What libc does with paths in many system calls, for program and shims alike; under the rules of file_system.hpp.
//
// Calls are static functions; each answers like the kernel: with a negative errno where it fails.
//   int open_at(int directory, const char* path, int flags)
//   long read(int fd, char* buffer, std::size_t capacity)
//   void close(int fd)
//   int status(const char* path, struct stat&)          follows links
//   int link_status(const char* path, struct stat&)     does not
//   int status_of(int fd, struct stat&)
//   long link_text(const char* path, char* buffer, std::size_t capacity)    not ended by a NUL
//   long entries(int fd, char* buffer, std::size_t capacity)                getdents64
//   long working_directory(char* buffer, std::size_t capacity)              ended by a NUL
//   std::uint64_t mount_of(const char* path)            number of the mount that it lies in; 0: the kernel does not say
//   std::uint32_t user()                                effective user id
//   std::int64_t now()                                  seconds since 1970

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <fcntl.h>

#include "core/fixed_text.hpp"

namespace cudaenv::store {

// Puts the path of the working directory into the buffer, ended by a NUL; of one too deep to be named, the path of the
// nearest directory above it that can be. False if it has none, as when it was removed.
template <class Calls>
bool working_directory(char* buffer, std::size_t capacity) {
  constexpr int k_place = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const long result = Calls::working_directory(buffer, capacity);
  if (result != -ENAMETOOLONG) return result > 0 && buffer[0] == '/';
  int fd = Calls::open_at(AT_FDCWD, ".", k_place);
  long size = -1;
  while (fd >= 0 && size <= 0) {
    const int above = Calls::open_at(fd, "..", k_place);
    Calls::close(fd);
    fd = above;
    core::FixedText<32> link("/proc/self/fd/");
    if (fd >= 0) size = Calls::link_text(link.append_number(static_cast<unsigned>(fd)).c_str(), buffer, capacity - 1);
    if (size == -ENOENT) break;  // no /proc
  }
  if (fd >= 0) Calls::close(fd);
  if (size <= 0 || buffer[0] != '/') return false;
  buffer[size] = '\0';
  return true;
}

// Puts the path of an existing file into `real`, with all links followed and without `.` and `..`. False if it cannot
// be had: too many links, or a path too long.
template <class Calls>
bool real_path(std::string_view path, core::PathText& real) {
  constexpr int k_most_links = 40;  // as the kernel
  char buffer[4096];
  core::PathText rest(path);
  core::PathText before;
  if (!path.starts_with('/')) {
    if (!working_directory<Calls>(buffer, sizeof buffer)) return false;
    real.assign(buffer);
  } else {
    real.assign("/");
  }
  for (int links = 0; rest.size() != 0;) {
    std::string_view left = rest.view();
    std::size_t size = 0;
    while (size < left.size() && left[size] != '/') ++size;
    const std::string_view part(left.data(), size);
    left.remove_prefix(size < left.size() ? size + 1 : size);
    const std::size_t parent = real.size();
    long target = -1;
    if (part == "..") {
      real.truncate(real.view().rfind('/'));
    } else if (!part.empty() && part != ".") {
      real.append(real.view().ends_with('/') ? "" : "/").append(part);
      target = Calls::link_text(real.c_str(), buffer, sizeof buffer);
    }
    if (real.is_cut() || rest.is_cut()) return false;
    before.assign(left);
    rest.clear();
    if (target > 0) {
      if (++links > k_most_links) return false;
      rest.append({buffer, static_cast<std::size_t>(target)}).append('/');
      real.truncate(buffer[0] == '/' ? 0 : parent);
    }
    rest.append(before.view());
    if (real.size() == 0) real.assign("/");
  }
  return true;
}

}  // namespace cudaenv::store
