// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <link.h>

#include "process.hpp"
#include "table.hpp"

namespace cudaenv::cudart {

// The dynamic section of an object that the loader has mapped, whether it is relocated yet or not.
class LoadedObject {
 public:
  explicit LoadedObject(const link_map* map) : m_map(map) {}

  // The address that an entry holds; 0 if there is none. The loader turns them into addresses of the process, but not
  // where the section cannot be written to.
  std::uintptr_t address(ElfW(Sxword) tag) const {
    const ElfW(Dyn)* found = entry(tag);
    if (!found) return 0;
    return found->d_un.d_ptr < m_map->l_addr ? found->d_un.d_ptr + m_map->l_addr : found->d_un.d_ptr;
  }

  // The string that an entry names; empty if there is none.
  std::string_view text(ElfW(Sxword) tag) const {
    const ElfW(Dyn)* found = entry(tag);
    return found ? string_at(found->d_un.d_val) : std::string_view();
  }

  bool needs(std::string_view soname) const {
    if (!m_map->l_ld) return false;
    for (const ElfW(Dyn)* each = m_map->l_ld; each->d_tag != DT_NULL; ++each)
      if (each->d_tag == DT_NEEDED && string_at(each->d_un.d_val) == soname) return true;
    return false;
  }

  std::string_view path() const { return m_map->l_name; }  // empty: the program

 private:
  const ElfW(Dyn) * entry(ElfW(Sxword) tag) const {
    if (!m_map->l_ld) return nullptr;
    for (const ElfW(Dyn)* each = m_map->l_ld; each->d_tag != DT_NULL; ++each)
      if (each->d_tag == tag) return each;
    return nullptr;
  }

  std::string_view string_at(std::uintptr_t offset) const {
    const std::uintptr_t strings = address(DT_STRTAB);
    return strings == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(strings + offset));
  }

  const link_map* m_map;
};

inline bool is_this_shim(const link_map* map) { return map->l_ld == cudaenv_dynamic; }

// The object that this shim was loaded for: the first that needs a library of its name. Null if it was opened by name.
inline const link_map* requester() {
  for (const link_map* map = loaded_objects(); map; map = map->l_next)
    if (!is_this_shim(map) && LoadedObject(map).needs(soname())) return map;
  return nullptr;
}

}  // namespace cudaenv::cudart
