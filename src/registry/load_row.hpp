// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"
#include "core/registry.hpp"

namespace cudaenv::registry {

// Keeps texts at addresses that never change.
class Arena {
 public:
  std::string_view keep(std::string_view text) { return m_texts.emplace_back(text); }

 private:
  std::deque<std::string> m_texts;
};

// One parsed file.
struct File {
  std::string_view name;
  base::Value root;
  std::string as_of;
  std::set<std::string, std::less<>> source_ids;
};

// An error about a registry file.
[[nodiscard]] Error fault_in(std::string_view file, std::string_view what);

// Whether `text` is a day of the calendar as YYYY-MM-DD.
bool is_date(std::string_view text);

// One row of a file while it is read. A getter of a missing or malformed key notes the fault, of which the
// first one counts, and returns an empty value, so that a row is read in one expression and checked once by
// finish(). Getters named ..._if_there return the empty value for a missing key without a fault.
class Row {
 public:
  // A row is a table, or an array whose elements are the values of `columns` in that order; the last ones may be
  // left out as a key of a table may. `title` is what a row of this table is called in errors, together with the
  // value of its first column.
  Row(const File& file, Arena& arena, std::string_view title, const base::Value& value,
      std::span<const std::string_view> columns);

  std::string_view text(std::string_view key);
  std::string_view text_if_there(std::string_view key);
  bool flag(std::string_view key);
  bool flag_if_there(std::string_view key);
  std::uint32_t number(std::string_view key);
  std::uint32_t number_if_there(std::string_view key);
  core::Version release(std::string_view key);
  core::DottedVersion version(std::string_view key);
  core::DottedVersion version_if_there(std::string_view key);
  std::pair<std::uint32_t, std::uint32_t> minor(std::string_view key);  // "12.4"
  core::ComputeCapability capability(std::string_view key);             // "8.9"
  core::ComputeCapability capability_if_there(std::string_view key);
  std::uint16_t device_id(std::string_view key);  // four lower-case hex digits
  std::string_view date_if_there(std::string_view key);
  std::string_view digest(std::string_view key);  // 64 lower-case hex digits
  std::string_view digest_if_there(std::string_view key);
  std::string_view source();               // ids of the file's sources, spaces between
  std::string_view confidence_if_there();  // one of the words in SCHEMA.md
  std::vector<std::uint16_t> codes_if_there(std::string_view key);
  std::vector<std::uint16_t> branches(std::string_view key);  // of drivers
  std::vector<std::uint16_t> majors(std::string_view key);    // of CUDA
  std::vector<std::string_view> texts_if_there(std::string_view key);

  void fault(std::string what);

  // The first fault, or a key that nobody asked for (but `note`, which is for readers of the file).
  [[nodiscard]] Result<void> finish() const;

 private:
  const base::Value* find(std::string_view key);
  std::vector<std::uint16_t> ascending_numbers(std::string_view key, std::string_view one);
  void fault_at(std::string_view key, std::string_view expected);

  const File& m_file;
  Arena& m_arena;
  base::Value m_value;
  std::string m_name;
  std::set<std::string, std::less<>> m_asked{"note"};
  std::optional<std::string> m_fault;
};

}  // namespace cudaenv::registry
