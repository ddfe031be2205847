// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/version.hpp"

namespace cudaenv::core {

enum class SpecKind { system, latest, automatic, number, name };

// What a person types for a toolkit: `12`, `12.8`, `cuda-12.8.1`, `latest`, `auto`, `system`, or the name of
// an adopted toolkit. `text` refers to the buffer it was parsed from. Freestanding.
struct Spec {
  SpecKind kind = SpecKind::system;
  int given = 0;    // number: how many of the three numbers were given
  Version version;  // number: those not given are 0
  std::string_view text;

  // Whether a release is one of those the number stands for.
  constexpr bool matches(const Version& release) const {
    if (kind == SpecKind::latest || kind == SpecKind::automatic) return true;
    return kind == SpecKind::number && release.major == version.major &&
           (given < 2 || release.minor == version.minor) && (given < 3 || release.patch == version.patch);
  }
};

inline constexpr std::string_view k_spec_expected =
    "a version such as 12, 12.8 or 12.8.1, or latest, auto, system, or the name of an adopted toolkit";

constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::size_t k_longest_toolkit_name = 64;

// Whether `text` can name an adopted toolkit. Such a name is safe as a file name: no slash, no leading dot.
constexpr bool is_toolkit_name(std::string_view text) {
  if (text.empty() || text.size() > k_longest_toolkit_name || !is_ascii_letter(text[0])) return false;
  for (const char c : text)
    if (!is_ascii_letter(c) && !is_ascii_digit(c) && c != '.' && c != '_' && c != '+' && c != '-') return false;
  return true;
}

namespace detail {

constexpr std::optional<Spec> parse_number_spec(std::string_view text) {
  std::string_view number = text;
  if (number.starts_with("cuda-"))
    number.remove_prefix(5);
  else if (number.starts_with("v"))
    number.remove_prefix(1);
  const auto dotted = parse_dotted_version(number, LeadingZero::refused);
  if (!dotted || dotted->count > 3) return std::nullopt;
  for (std::size_t i = 0; i < dotted->count; ++i)
    if (dotted->part[i] > k_greatest_version_number) return std::nullopt;
  return Spec{SpecKind::number, dotted->count, Version{dotted->part[0], dotted->part[1], dotted->part[2]}, text};
}

}  // namespace detail

// The spec that makes up the whole of `text`; nothing if it is none. The text is never used as a path.
constexpr std::optional<Spec> parse_spec(std::string_view text) {
  if (text == "system") return Spec{SpecKind::system, 0, {}, text};
  if (text == "latest") return Spec{SpecKind::latest, 0, {}, text};
  if (text == "auto") return Spec{SpecKind::automatic, 0, {}, text};
  if (const auto number = detail::parse_number_spec(text)) return number;
  if (is_toolkit_name(text)) return Spec{SpecKind::name, 0, {}, text};
  return std::nullopt;
}

}  // namespace cudaenv::core
