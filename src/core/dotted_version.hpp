// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cudaenv::core {

// A sequence of one to five decimal numbers, as NVIDIA writes component and driver versions (12.4.131,
// 570.124.06, 13.3.3.3.1). Compared number by number: 570.26 < 570.124.06. This is the program's one
// parser of version numbers. Freestanding: no allocation, no exceptions, no libc.
struct DottedVersion {
  static constexpr std::size_t k_most_parts = 5;

  std::array<std::uint32_t, k_most_parts> part{};  // the ones past `count` are 0
  std::uint8_t count = 0;                          // 0: no version at all

  constexpr explicit operator bool() const { return count != 0; }
  constexpr std::uint32_t operator[](std::size_t index) const { return part[index]; }

  // A missing part compares as 0: 12.8 and 12.8.0 are equivalent.
  friend constexpr std::strong_ordering operator<=>(const DottedVersion& a, const DottedVersion& b) {
    for (std::size_t i = 0; i < k_most_parts; ++i)
      if (a.part[i] != b.part[i]) return a.part[i] <=> b.part[i];
    return std::strong_ordering::equal;
  }
  friend constexpr bool operator==(const DottedVersion& a, const DottedVersion& b) { return (a <=> b) == 0; }
};

enum class LeadingZero { allowed, refused };  // drivers have it (570.124.06), releases and specs do not

// The version that makes up the whole of `text`; nothing if there is anything else in it, or a number of
// more than six digits.
constexpr std::optional<DottedVersion> parse_dotted_version(std::string_view text,
                                                            LeadingZero leading_zero = LeadingZero::allowed) {
  DottedVersion version;
  std::size_t at = 0;
  while (true) {
    if (version.count == DottedVersion::k_most_parts) return std::nullopt;
    std::uint32_t number = 0;
    const std::size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      number = number * 10 + static_cast<std::uint32_t>(text[at] - '0');
      if (++at - start > 6) return std::nullopt;
    }
    if (at == start) return std::nullopt;
    if (leading_zero == LeadingZero::refused && text[start] == '0' && at - start > 1) return std::nullopt;
    version.part[version.count++] = number;
    if (at == text.size()) return version;
    if (text[at++] != '.') return std::nullopt;
  }
}

}  // namespace cudaenv::core
