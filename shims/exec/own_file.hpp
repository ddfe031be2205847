// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fixed_text.hpp"

namespace cudaenv::shim {

// Which file on disk is running. Every shim is a hard link of one file, and the kernel remembers which of the
// links was started. argv[0] is not asked: the caller may write anything there.
class OwnFile {
 public:
  OwnFile() {
    char buffer[PATH_MAX];
    const ssize_t size = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    if (size > 0)
      m_path.append({buffer, static_cast<std::size_t>(size)});
    else if (const char* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); started)
      m_path.append(::realpath(started, buffer) ? buffer : "");  // no /proc
  }

  // ROOT, if this is ROOT/shims/NAME; else empty.
  std::string_view root() const { return root_of(m_path.view()); }

  // Whether `info` is of this very file, under whatever name.
  bool is_same(const struct stat& info) const {
    struct stat own;
    if (::stat("/proc/self/exe", &own) != 0 && ::stat(m_path.c_str(), &own) != 0) return false;
    return own.st_dev == info.st_dev && own.st_ino == info.st_ino;
  }

 private:
  static std::string_view root_of(std::string_view path) {
    constexpr std::string_view k_directory = "/shims";
    while (!path.empty() && !path.ends_with('/')) path.remove_suffix(1);
    if (path.empty()) return {};
    path.remove_suffix(1);
    if (!path.ends_with(k_directory)) return {};
    path.remove_suffix(k_directory.size());
    return path.empty() ? "/" : path;
  }

  core::PathText m_path;
};

}  // namespace cudaenv::shim
