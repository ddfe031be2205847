// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <link.h>

#include "loaded_object.hpp"

namespace cudaenv::cudart {

// Looks up functions in a loaded library by its own hash table, without dlsym: that takes the loader's lock, which
// after a fork may be held for ever by a thread that is not there.
class OpenedLibrary {
 public:
  void read(const link_map* map) {
    const LoadedObject object(map);
    m_path = map->l_name;
    m_base = map->l_addr;
    m_symbols = reinterpret_cast<const ElfW(Sym)*>(object.address(DT_SYMTAB));
    m_strings = reinterpret_cast<const char*>(object.address(DT_STRTAB));
    m_gnu_hash = reinterpret_cast<const std::uint32_t*>(object.address(DT_GNU_HASH));
    m_sysv_hash = reinterpret_cast<const std::uint32_t*>(object.address(DT_HASH));
  }

  const char* path() const { return m_path; }

  // Null if it has no such function. `hash` is that of DT_GNU_HASH.
  void* find(const char* name, std::uint32_t hash) const {
    if (m_gnu_hash) return find_by_gnu_hash(name, hash);
    return m_sysv_hash ? find_by_sysv_hash(name) : nullptr;
  }

 private:
  void* find_by_gnu_hash(const char* name, std::uint32_t hash) const {
    const std::uint32_t bucket_count = m_gnu_hash[0];
    const std::uint32_t first = m_gnu_hash[1];
    const std::uint32_t filter_size = m_gnu_hash[2];
    const auto* filter = reinterpret_cast<const std::uint64_t*>(m_gnu_hash + 4);
    const auto* buckets = reinterpret_cast<const std::uint32_t*>(filter + filter_size);
    const std::uint32_t* chains = buckets + bucket_count;
    const std::uint64_t word = filter[hash / 64 % filter_size];
    if ((word >> (hash % 64) & word >> ((hash >> m_gnu_hash[3]) % 64) & 1) == 0) return nullptr;
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first) return nullptr;
    while (true) {
      const std::uint32_t chained = chains[index - first];
      if ((chained | 1) == (hash | 1) && is_named(index, name)) return address(index);
      if ((chained & 1) != 0) return nullptr;
      ++index;
    }
  }

  // Of a library that was linked with --hash-style=sysv.
  void* find_by_sysv_hash(const char* name) const {
    std::uint32_t hash = 0;
    for (const char* at = name; *at != '\0'; ++at) {
      hash = (hash << 4) + static_cast<unsigned char>(*at);
      hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    const std::uint32_t bucket_count = m_sysv_hash[0];
    const std::uint32_t* buckets = m_sysv_hash + 2;
    const std::uint32_t* chains = buckets + bucket_count;
    for (std::uint32_t index = buckets[hash % bucket_count]; index != 0; index = chains[index])
      if (is_named(index, name)) return address(index);
    return nullptr;
  }

  bool is_named(std::uint32_t index, const char* name) const {
    const char* own = m_strings + m_symbols[index].st_name;
    if (m_symbols[index].st_shndx == SHN_UNDEF) return false;
    while (*own != '\0' && *own == *name) {
      ++own;
      ++name;
    }
    return *own == *name;
  }

  void* address(std::uint32_t index) const { return reinterpret_cast<void*>(m_base + m_symbols[index].st_value); }

  const char* m_path = nullptr;
  std::uintptr_t m_base = 0;
  const ElfW(Sym) * m_symbols = nullptr;
  const char* m_strings = nullptr;
  const std::uint32_t* m_gnu_hash = nullptr;
  const std::uint32_t* m_sysv_hash = nullptr;
};

}  // namespace cudaenv::cudart
