// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "elf/hash_table.hpp"
#include "elf/shared_library.hpp"

namespace cudaenv::test {

enum class HashStyle { gnu, sysv };

// The smallest shared library with these exports: headers, dynamic section and what it names, in one segment.
class SampleLibrary {
 public:
  SampleLibrary(std::string soname, std::vector<elf::Export> exports, HashStyle style = HashStyle::gnu)
      : m_soname(std::move(soname)), m_exports(std::move(exports)), m_style(style) {}

  std::string bytes() {
    const std::uint32_t buckets = elf::bucket_count(m_exports.size());
    std::stable_sort(m_exports.begin(), m_exports.end(), [&](const elf::Export& a, const elf::Export& b) {
      return elf::gnu_hash(a.name) % buckets < elf::gnu_hash(b.name) % buckets;
    });
    m_bytes.assign(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), '\0');
    add_symbols();
    add_versions();
    set(DT_STRTAB, put(m_strings));
    set(DT_STRSZ, m_strings.size());
    set(DT_NULL, 0);
    const std::uint64_t dynamic = put(bytes_of(m_dynamic));
    write_headers(dynamic);
    return m_bytes;
  }

 private:
  template <class T>
  static std::string bytes_of(const std::vector<T>& items) {
    return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
  }

  std::uint64_t put(const std::string& part) {
    m_bytes.resize((m_bytes.size() + 7) / 8 * 8);
    const std::uint64_t at = m_bytes.size();
    m_bytes += part;
    return at;
  }

  std::uint32_t string(const std::string& text) {
    const auto at = static_cast<std::uint32_t>(m_strings.size());
    m_strings.append(text).push_back('\0');
    return at;
  }

  void set(std::int64_t tag, std::uint64_t value) { m_dynamic.push_back({tag, {value}}); }

  void add_symbols() {
    std::vector<Elf64_Sym> symbols(1);
    std::vector<std::uint32_t> hashes;
    for (const elf::Export& each : m_exports) {
      Elf64_Sym symbol{};
      symbol.st_name = string(each.name);
      symbol.st_info = static_cast<unsigned char>(
          ELF64_ST_INFO(each.is_weak ? STB_WEAK : STB_GLOBAL, each.is_function ? STT_FUNC : STT_OBJECT));
      symbol.st_shndx = 1;
      symbols.push_back(symbol);
      hashes.push_back(elf::gnu_hash(each.name));
    }
    set(DT_SONAME, string(m_soname));
    set(DT_SYMTAB, put(bytes_of(symbols)));
    if (m_style == HashStyle::gnu)
      set(DT_GNU_HASH, put(elf::gnu_hash_table(hashes, 1)));
    else
      set(DT_HASH, put(bytes_of(std::vector<std::uint32_t>{1, static_cast<std::uint32_t>(symbols.size()), 0})));
  }

  void add_versions() {
    std::map<std::string, std::uint16_t> numbers;
    for (const elf::Export& each : m_exports)
      if (!each.version.empty()) numbers.try_emplace(each.version, static_cast<std::uint16_t>(numbers.size() + 2));
    std::vector<std::uint16_t> table{0};
    for (const elf::Export& each : m_exports)
      table.push_back(static_cast<std::uint16_t>(
          each.version.empty() ? 1 : numbers[each.version] | (each.is_default ? 0 : 0x8000)));
    set(DT_VERSYM, put(bytes_of(table)));
    std::string definitions;
    std::size_t left = numbers.size();
    for (const auto& [name, number] : numbers) {
      const Elf64_Verdef definition{
          1,
          0,
          number,
          1,
          elf::sysv_hash(name),
          sizeof(Elf64_Verdef),
          --left == 0 ? 0u : static_cast<Elf64_Word>(sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux))};
      const Elf64_Verdaux named{string(name), 0};
      definitions.append(reinterpret_cast<const char*>(&definition), sizeof definition);
      definitions.append(reinterpret_cast<const char*>(&named), sizeof named);
    }
    if (numbers.empty()) return;
    set(DT_VERDEF, put(definitions));
    set(DT_VERDEFNUM, numbers.size());
  }

  void write_headers(std::uint64_t dynamic) {
    Elf64_Ehdr header{};
    std::copy_n(ELFMAG, SELFMAG, header.e_ident);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    const std::uint64_t size = m_bytes.size();
    const Elf64_Phdr segments[] = {
        {PT_LOAD, PF_R, 0, 0, 0, size, size, 0x1000},
        {PT_DYNAMIC, PF_R, dynamic, dynamic, dynamic, size - dynamic, size - dynamic, 8},
    };
    m_bytes.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
    m_bytes.replace(sizeof header, sizeof segments, reinterpret_cast<const char*>(segments), sizeof segments);
  }

  std::string m_soname;
  std::vector<elf::Export> m_exports;
  HashStyle m_style;
  std::string m_bytes;
  std::string m_strings{'\0'};
  std::vector<Elf64_Dyn> m_dynamic;
};

// A little of everything that a library may have.
inline std::vector<elf::Export> sample_exports() {
  return {{"cudaMalloc", "libcudart.so.13", true, true, false},
          {"cudaFree", "libcudart.so.13", true, true, true},
          {"cudaOld", "OLDER", false, true, false},
          {"cudaPlain", "", true, true, false},
          {"cudaData", "libcudart.so.13", true, false, false}};
}

}  // namespace cudaenv::test
