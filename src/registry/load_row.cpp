// SPDX-License-Identifier: Apache-2.0
#include "registry/load_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace cudaenv::registry {
namespace {

constexpr std::array<std::string_view, 7> k_confidences{
    "branch-only", "conflict", "inferred", "mixed", "partial", "single-source", "weak",
};

bool is_lower_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The elements of an array row by the names of its columns.
base::Value named(const base::Value::Array& elements, std::span<const std::string_view> columns) {
  base::Value::Object object;
  for (std::size_t i = 0; i < elements.size() && i < columns.size(); ++i)
    object.emplace_back(std::string(columns[i]), elements[i]);
  return object;
}

std::string shown(const base::Value* value) {
  if (!value) return "nothing";
  if (const auto* text = value->as_string()) return fmt::format("\"{}\"", *text);
  if (const auto* number = value->as_integer()) return fmt::format("{}", *number);
  return "a value of another kind";
}

}  // namespace

Error fault_in(std::string_view file, std::string_view what) {
  return Error{ErrorKind::config, fmt::format("registry file {}: {}", file, what)};
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t size) {
    const auto digits = core::parse_dotted_version(text.substr(at, size));
    return digits && digits->count == 1 ? digits->part[0] : 0;
  };
  constexpr std::array<std::uint32_t, 12> k_days{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  return number(0, 4) >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= k_days[month - 1];
}

Row::Row(const File& file, Arena& arena, std::string_view title, const base::Value& value,
         std::span<const std::string_view> columns)
    : m_file(file), m_arena(arena), m_value(value) {
  if (const auto* elements = value.as_array()) {
    m_value = named(*elements, columns);
    if (elements->size() > columns.size())
      m_fault = fmt::format("has {} elements, more than {}", elements->size(), columns.size());
  } else if (!value.as_object()) {
    m_fault = "is neither a table nor an array";
  }
  m_name = fmt::format("{} {}", title, shown(m_value.find(columns.front())));
}

const base::Value* Row::find(std::string_view key) {
  m_asked.emplace(key);
  return m_value.find(key);
}

void Row::fault(std::string what) {
  if (!m_fault) m_fault = std::move(what);
}

void Row::fault_at(std::string_view key, std::string_view expected) {
  fault(fmt::format("{} is {}, not {}", key, shown(m_value.find(key)), expected));
}

std::string_view Row::text(std::string_view key) {
  const base::Value* value = find(key);
  const std::string* string = value ? value->as_string() : nullptr;
  if (!string || string->empty()) {
    fault_at(key, "a text");
    return {};
  }
  return m_arena.keep(*string);
}

std::string_view Row::text_if_there(std::string_view key) { return find(key) ? text(key) : std::string_view(); }

bool Row::flag(std::string_view key) {
  const base::Value* value = find(key);
  const bool* flag = value ? value->as_bool() : nullptr;
  if (!flag) fault_at(key, "true or false");
  return flag && *flag;
}

bool Row::flag_if_there(std::string_view key) { return find(key) && flag(key); }

std::uint32_t Row::number(std::string_view key) {
  const base::Value* value = find(key);
  const std::int64_t* number = value ? value->as_integer() : nullptr;
  if (!number || *number < 1 || *number > std::numeric_limits<std::uint16_t>::max()) {
    fault_at(key, "a number from 1 to 65535");
    return 0;
  }
  return static_cast<std::uint32_t>(*number);
}

std::uint32_t Row::number_if_there(std::string_view key) { return find(key) ? number(key) : 0; }

core::Version Row::release(std::string_view key) {
  const auto release = core::parse_version(text(key));
  if (!release) fault_at(key, "a release (three numbers)");
  return release.value_or(core::Version{});
}

core::DottedVersion Row::version(std::string_view key) {
  const auto version = core::parse_dotted_version(text(key));
  if (!version) fault_at(key, "a version number");
  return version.value_or(core::DottedVersion{});
}

core::DottedVersion Row::version_if_there(std::string_view key) {
  return find(key) ? version(key) : core::DottedVersion{};
}

std::pair<std::uint32_t, std::uint32_t> Row::minor(std::string_view key) {
  const auto version = core::parse_dotted_version(text(key), core::LeadingZero::refused);
  if (!version || version->count != 2) {
    fault_at(key, "two numbers with a dot between");
    return {0, 0};
  }
  return {version->part[0], version->part[1]};
}

core::ComputeCapability Row::capability(std::string_view key) {
  const auto [major, minor_number] = minor(key);
  if (major > 99 || minor_number > 9) fault_at(key, "a compute capability");
  return {static_cast<std::uint16_t>(major), static_cast<std::uint16_t>(minor_number)};
}

core::ComputeCapability Row::capability_if_there(std::string_view key) {
  return find(key) ? capability(key) : core::ComputeCapability{};
}

std::uint16_t Row::device_id(std::string_view key) {
  const std::string_view digits = text(key);
  if (digits.size() != 4 || !is_lower_hex(digits)) {
    fault_at(key, "four lower-case hex digits");
    return 0;
  }
  unsigned id = 0;
  for (const char c : digits) id = id * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  return static_cast<std::uint16_t>(id);
}

std::string_view Row::date_if_there(std::string_view key) {
  if (!find(key)) return {};
  const std::string_view date = text(key);
  if (!is_date(date)) fault_at(key, "a date (YYYY-MM-DD)");
  return date;
}

std::string_view Row::digest_if_there(std::string_view key) { return find(key) ? digest(key) : std::string_view(); }

std::string_view Row::digest(std::string_view key) {
  const std::string_view digest = text(key);
  if (digest.size() != 64 || !is_lower_hex(digest)) fault_at(key, "64 lower-case hex digits");
  return digest;
}

std::string_view Row::source() {
  const std::string_view ids = text("source");
  for (std::string_view rest = ids; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (!m_file.source_ids.contains(rest.substr(0, end)))
      fault(fmt::format("source \"{}\" is not described in the file's sources", rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ids;
}

std::string_view Row::confidence_if_there() {
  if (!find("confidence")) return {};
  const std::string_view word = text("confidence");
  if (std::find(k_confidences.begin(), k_confidences.end(), word) == k_confidences.end())
    fault_at("confidence", fmt::format("one of {}", fmt::join(k_confidences, ", ")));
  return word;
}

// `one` is what an element is called in errors.
std::vector<std::uint16_t> Row::ascending_numbers(std::string_view key, std::string_view one) {
  std::vector<std::uint16_t> numbers;
  const base::Value* value = find(key);
  const auto* elements = value ? value->as_array() : nullptr;
  if (!elements) {
    fault_at(key, "an array");
    return numbers;
  }
  for (const base::Value& element : *elements) {
    const std::int64_t* number = element.as_integer();
    if (!number || *number < 10 || *number > 999) fault(fmt::format("{} holds {}, not {}", key, shown(&element), one));
    numbers.push_back(number ? static_cast<std::uint16_t>(*number) : std::uint16_t{0});
  }
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>{}) != numbers.end())
    fault(fmt::format("{} is not ascending", key));
  return numbers;
}

std::vector<std::uint16_t> Row::codes_if_there(std::string_view key) {
  return find(key) ? ascending_numbers(key, "an architecture") : std::vector<std::uint16_t>{};
}

std::vector<std::uint16_t> Row::branches(std::string_view key) { return ascending_numbers(key, "a driver branch"); }

std::vector<std::uint16_t> Row::majors(std::string_view key) { return ascending_numbers(key, "a CUDA major"); }

std::vector<std::string_view> Row::texts_if_there(std::string_view key) {
  std::vector<std::string_view> texts;
  const base::Value* value = find(key);
  if (!value) return texts;
  const auto* elements = value->as_array();
  if (!elements) {
    fault_at(key, "an array of texts");
    return texts;
  }
  for (const base::Value& element : *elements) {
    const std::string* text = element.as_string();
    if (!text || text->empty()) fault(fmt::format("{} holds {}, not a text", key, shown(&element)));
    texts.push_back(text ? m_arena.keep(*text) : std::string_view());
  }
  return texts;
}

Result<void> Row::finish() const {
  if (m_fault) return fail(fault_in(m_file.name, fmt::format("{}: {}", m_name, *m_fault)));
  for (const auto& [key, value] : *m_value.as_object())
    if (!m_asked.contains(key)) return fail(fault_in(m_file.name, fmt::format("{}: unknown key {}", m_name, key)));
  return {};
}

}  // namespace cudaenv::registry
