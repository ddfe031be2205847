// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <sys/auxv.h>

#include "store/posix_system.hpp"

namespace cudaenv::shim {

// PosixSystem for a shim. Where the kernel says that the program runs with more rights than whoever started it
// (set-uid, file capabilities, a change of security domain), neither the variables nor the directory of that
// person may choose what is run: only the global selection is left.
class ShimSystem : public store::PosixSystem {
 public:
  const char* variable(const char* name) const { return m_is_trusted ? PosixSystem::variable(name) : nullptr; }
  bool is_current_directory(const char* path) const { return m_is_trusted && PosixSystem::is_current_directory(path); }
  bool current_directory(char* buffer, std::size_t capacity) const {
    return m_is_trusted && PosixSystem::current_directory(buffer, capacity);
  }

  // Whether whoever started this may choose what is run.
  bool is_trusted() const { return m_is_trusted; }

 private:
  bool m_is_trusted = ::getauxval(AT_SECURE) == 0;
};

}  // namespace cudaenv::shim
