// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "base/result.hpp"

namespace cudaenv::elf {

// The bytes of the template, which become a shim: parts of it are replaced in place, what grows is appended.
class TemplateImage {
 public:
  // ErrorKind::internal for anything but a shared library with the sections that a template has.
  [[nodiscard]] static Result<TemplateImage> open(std::string bytes);

  std::uint16_t machine() const { return m_header.e_machine; }
  const Elf64_Shdr& section(std::string_view name) const { return m_sections[index_of(name)]; }
  std::uint16_t index_of(std::string_view name) const;

  // All items of a section.
  template <class T>
  std::vector<T> items(std::string_view name) const {
    const Elf64_Shdr& header = section(name);
    std::vector<T> result(header.sh_size / sizeof(T));
    std::memcpy(result.data(), m_bytes.data() + header.sh_offset, result.size() * sizeof(T));
    return result;
  }
  template <class T>
  void replace(std::string_view name, const std::vector<T>& items) {
    std::memcpy(m_bytes.data() + section(name).sh_offset, items.data(), items.size() * sizeof(T));
  }

  std::uint64_t append_address() const { return m_append_address; }  // of the first byte that is appended
  std::optional<std::uint64_t> dynamic(std::int64_t tag) const;
  std::vector<std::uint64_t> all_dynamic(std::int64_t tag) const;
  // Both answer false if there is no room for a new entry.
  bool set_dynamic(std::int64_t tag, std::uint64_t value);
  bool add_dynamic(std::int64_t tag, std::uint64_t value);
  // Makes a section lie in what is appended.
  void move_section(std::string_view name, std::uint64_t address, std::uint64_t size, std::uint32_t info = 0);

  // The whole file with the mark and what is appended, which is mapped to be written to.
  std::string finish(std::string_view appended) &&;

 private:
  explicit TemplateImage(std::string bytes) : m_bytes(std::move(bytes)) {}
  bool read_headers();
  bool has_all_sections() const;
  std::optional<std::uint16_t> find_section(std::string_view name) const;

  std::string m_bytes;
  Elf64_Ehdr m_header{};
  std::vector<Elf64_Phdr> m_segments;
  std::vector<Elf64_Shdr> m_sections;
  std::vector<Elf64_Dyn> m_dynamic;
  std::uint64_t m_append_offset = 0;
  std::uint64_t m_append_address = 0;
};

}  // namespace cudaenv::elf
