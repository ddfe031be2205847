// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "store/gate_files.hpp"
#include "syscalls.hpp"

namespace cudaenv::raw {

enum class Trust { caller, nobody };

// The policies of core/selection.hpp and core/gate_record.hpp for code without libc. The environment is given, as such
// code may run before libc knows it. Trust::nobody is for a process with more rights than whoever started it
// (AT_SECURE: set-uid, file capabilities, a change of security domain): neither the variables nor the directory of that
// person may choose what is run, and only the global selection is left.
class RawSystem : public store::GateFiles<SystemCalls> {
 public:
  // `environment` ends with a null pointer; null itself: an empty one.
  RawSystem(char* const* environment, Trust trust) : m_environment(environment), m_trust(trust) {}

  // The first of that name, as getenv.
  const char* variable(const char* name) const {
    if (!is_trusted() || !m_environment) return nullptr;
    for (char* const* entry = m_environment; *entry; ++entry) {
      const char* at = *entry;
      const char* wanted = name;
      while (*wanted != '\0' && *at == *wanted) {
        ++at;
        ++wanted;
      }
      if (*wanted == '\0' && *at == '=') return at + 1;
    }
    return nullptr;
  }

  // f(const char* entry) with "NAME=value".
  template <class F>
  void for_each_variable(F f) const {
    if (!is_trusted() || !m_environment) return;
    for (char* const* entry = m_environment; *entry; ++entry) f(*entry);
  }

  bool is_current_directory(const char* path) const { return is_trusted() && FileSystem::is_current_directory(path); }
  bool current_directory(char* buffer, std::size_t capacity) const {
    return is_trusted() && FileSystem::current_directory(buffer, capacity);
  }

  // Whether whoever started this may choose what is run.
  bool is_trusted() const { return m_trust == Trust::caller; }

 private:
  char* const* m_environment;
  Trust m_trust;
};

}  // namespace cudaenv::raw
