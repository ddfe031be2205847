// SPDX-License-Identifier: Apache-2.0
#include "elf/tables.hpp"

#include <algorithm>
#include <cstring>

namespace cudaenv::elf {
namespace {

constexpr std::uint64_t k_largest_dynamic = 1u << 16;  // bytes
constexpr unsigned k_most_headers = 256;

}  // namespace

tl::unexpected<Error> damaged(std::string what) {
  return fail(ErrorKind::integrity, "not a shared library, or damaged", {}, {std::move(what)});
}

Result<MappedFile> MappedFile::open(const ByteSource& source) {
  MappedFile file(source);
  CUDAENV_CHECK(file.read_headers());
  return file;
}

Result<void> MappedFile::read_headers() {
  Elf64_Ehdr header;
  if (!m_source->read(0, &header, sizeof header)) return damaged("no ELF header");
  const unsigned char* id = header.e_ident;
  if (std::memcmp(id, ELFMAG, SELFMAG) != 0) return damaged("no ELF file");
  if (id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != ELFDATA2LSB || id[EI_VERSION] != EV_CURRENT)
    return damaged("not for a 64-bit little-endian machine");
  if (header.e_type != ET_DYN) return damaged("no shared library");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > k_most_headers)
    return damaged("program headers of another kind");
  m_machine = header.e_machine;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (!m_source->read(header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr)))
    return damaged("the program headers lie outside the file");
  std::copy_if(headers.begin(), headers.end(), std::back_inserter(m_loads),
               [](const Elf64_Phdr& each) { return each.p_type == PT_LOAD; });
  for (const Elf64_Phdr& each : headers)
    if (each.p_type == PT_DYNAMIC) return read_dynamic(each);
  return damaged("no dynamic section");
}

Result<void> MappedFile::read_dynamic(const Elf64_Phdr& header) {
  if (header.p_filesz > k_largest_dynamic) return damaged("the dynamic section is too large");
  m_dynamic.resize(header.p_filesz / sizeof(Elf64_Dyn));
  if (!m_source->read(header.p_offset, m_dynamic.data(), m_dynamic.size() * sizeof(Elf64_Dyn)))
    return damaged("the dynamic section lies outside the file");
  const auto end =
      std::find_if(m_dynamic.begin(), m_dynamic.end(), [](const Elf64_Dyn& each) { return each.d_tag == DT_NULL; });
  m_dynamic.erase(end, m_dynamic.end());
  return {};
}

std::vector<std::uint64_t> MappedFile::all_dynamic(std::int64_t tag) const {
  std::vector<std::uint64_t> values;
  for (const Elf64_Dyn& each : m_dynamic)
    if (each.d_tag == tag) values.push_back(each.d_un.d_val);
  return values;
}

std::optional<std::uint64_t> MappedFile::dynamic(std::int64_t tag) const {
  for (const Elf64_Dyn& each : m_dynamic)
    if (each.d_tag == tag) return each.d_un.d_val;
  return std::nullopt;
}

std::optional<std::uint64_t> MappedFile::offset_of(std::uint64_t address, std::uint64_t size) const {
  for (const Elf64_Phdr& load : m_loads) {
    if (address < load.p_vaddr) continue;
    const std::uint64_t distance = address - load.p_vaddr;
    if (distance > load.p_filesz || size > load.p_filesz - distance) continue;
    if (load.p_offset > m_source->size || distance > m_source->size - load.p_offset) continue;
    const std::uint64_t offset = load.p_offset + distance;
    if (size <= m_source->size - offset) return offset;
  }
  return std::nullopt;
}

std::optional<std::string> string_in(const std::vector<char>& strings, std::uint64_t offset) {
  if (offset >= strings.size()) return std::nullopt;
  const auto start = strings.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto end = std::find(start, strings.end(), '\0');
  if (end == strings.end()) return std::nullopt;
  return std::string(start, end);
}

}  // namespace cudaenv::elf
