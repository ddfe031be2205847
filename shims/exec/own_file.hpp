// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <sys/stat.h>

#include "core/fixed_text.hpp"
#include "raw/raw_system.hpp"
#include "store/path_walk.hpp"
#include "texts.hpp"

namespace cudaenv::shim {

// Which file on disk is running. Every shim is a hard link of one file, and the kernel remembers which of the
// links was started. argv[0] is not asked: the caller may write anything there.
class OwnFile {
 public:
  // `started`: the path given to execve, for where there is no /proc; may be null.
  [[gnu::noinline]] OwnFile(const raw::RawSystem& system, const char* started, Texts& texts) : m_system(system) {
    core::PathText path;
    char buffer[4096];
    const std::size_t size = system.link_text(k_self, buffer, sizeof buffer);
    path.append({buffer, size});
    if (size == 0 && started && !store::real_path<raw::SystemCalls>(started, path)) path.clear();
    m_path = texts.keep({path.view()});
  }

  // ROOT, if this is ROOT/shims/NAME; else empty.
  std::string_view root() const { return root_of(m_path); }

  // Whether `info` is of this very file, under whatever name.
  bool is_same(const struct stat& info) const {
    struct stat own;
    if (!m_system.status(k_self, own) && !m_system.status(m_path.data(), own)) return false;
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

  static constexpr const char* k_self = "/proc/self/exe";

  const raw::RawSystem& m_system;
  std::string_view m_path;  // ended by a NUL
};

}  // namespace cudaenv::shim
