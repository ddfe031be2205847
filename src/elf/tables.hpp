// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "base/result.hpp"
#include "elf/byte_source.hpp"

namespace cudaenv::elf {

tl::unexpected<Error> damaged(std::string what);

// The file as the loader would map it: reads by the addresses that its dynamic section is written in. Nothing in the
// file is believed: a place outside it, and a table larger than k_largest_table, are errors.
class MappedFile {
 public:
  static constexpr std::uint64_t k_largest_table = 64u << 20;  // bytes

  [[nodiscard]] static Result<MappedFile> open(const ByteSource& source);

  std::uint16_t machine() const { return m_machine; }

  // The dynamic entries of that kind, and the first of them.
  std::vector<std::uint64_t> all_dynamic(std::int64_t tag) const;
  std::optional<std::uint64_t> dynamic(std::int64_t tag) const;

  // `count` items that lie at an address.
  template <class T>
  [[nodiscard]] Result<std::vector<T>> items(std::uint64_t address, std::uint64_t count, std::string_view what) const {
    std::vector<T> result;
    if (count > k_largest_table / sizeof(T)) return damaged(std::string(what) + " is too large");
    const auto offset = offset_of(address, count * sizeof(T));
    if (!offset) return damaged(std::string(what) + " lies outside the file");
    result.resize(count);
    if (!m_source->read(*offset, result.data(), count * sizeof(T)))
      return damaged(std::string(what) + " cannot be read");
    return result;
  }

 private:
  explicit MappedFile(const ByteSource& source) : m_source(&source) {}
  std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t size) const;
  [[nodiscard]] Result<void> read_headers();
  [[nodiscard]] Result<void> read_dynamic(const Elf64_Phdr& header);

  const ByteSource* m_source;
  std::uint16_t m_machine = 0;
  std::vector<Elf64_Phdr> m_loads;
  std::vector<Elf64_Dyn> m_dynamic;
};

// The text at a place in a string table; nothing if it does not end within the table.
std::optional<std::string> string_in(const std::vector<char>& strings, std::uint64_t offset);

}  // namespace cudaenv::elf
