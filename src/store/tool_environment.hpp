// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cudaenv::store {

// One variable that a tool gets: `entry` is NAME=value and must live until execve.
struct Setting {
  const char* entry;
  std::size_t name_size;
};

// Whether an entry of an environment is of the variable that a setting is for.
inline bool is_of(const char* entry, const Setting& setting) {
  std::size_t i = 0;
  while (i < setting.name_size && entry[i] == setting.entry[i]) ++i;
  return i == setting.name_size && entry[i] == '=';
}

// How many pointers set_variables() needs.
inline std::size_t environment_capacity(char* const* environment, std::size_t settings) {
  std::size_t count = 0;
  while (environment[count]) ++count;
  return count + settings + 1;
}

// Copies an environment, each setting in the place of the first entry of its name or at the end. Further
// entries of those names are left out, as programs differ in which of two they heed; all others stay as they
// are, odd ones too, in order. `result` may be `environment` itself. Not setenv: it allocates.
inline void set_variables(char* const* environment, const Setting* settings, std::size_t count, char** result) {
  unsigned placed = 0;
  for (; *environment; ++environment) {
    std::size_t i = 0;
    while (i < count && !is_of(*environment, settings[i])) ++i;
    if (i == count)
      *result++ = *environment;
    else if ((placed & (1U << i)) == 0)
      *result++ = const_cast<char*>(settings[i].entry);
    if (i != count) placed |= 1U << i;
  }
  for (std::size_t i = 0; i < count; ++i)
    if ((placed & (1U << i)) == 0) *result++ = const_cast<char*>(settings[i].entry);
  *result = nullptr;
}

}  // namespace cudaenv::store
