// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dotted_version.hpp"

namespace cudaenv::core {

// A release of the CUDA Toolkit: always three numbers, compared as numbers. Freestanding.
struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;

  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};

// A minor release line, 12.8: the step in which toolkits and drivers are compatible.
struct Minor {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;

  friend constexpr auto operator<=>(const Minor&, const Minor&) = default;
};

constexpr Minor minor_of(const Version& release) { return {release.major, release.minor}; }

constexpr std::uint32_t k_greatest_version_number = 9999;

// The release that makes up the whole of `text`: exactly three numbers without leading zeros, of four
// digits at most.
constexpr std::optional<Version> parse_version(std::string_view text) {
  const auto dotted = parse_dotted_version(text, LeadingZero::refused);
  if (!dotted || dotted->count != 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i)
    if (dotted->part[i] > k_greatest_version_number) return std::nullopt;
  return Version{dotted->part[0], dotted->part[1], dotted->part[2]};
}

}  // namespace cudaenv::core
