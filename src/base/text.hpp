// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::base {

// Without blanks and line ends on either side.
std::string_view trimmed(std::string_view text);

// The parts between separators; always at least one, possibly empty.
std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> String>
std::vector<std::string_view> split(String&&, char) = delete;  // the parts point into the text, which would be gone

std::string join(std::span<const std::string> parts, std::string_view separator);

// Control characters, and bytes that are no UTF-8, as \xNN: safe to print to a terminal.
std::string escaped(std::string_view text);

// "839.0 MB": decimal units, as NVIDIA and disk makers count.
std::string human_size(std::uint64_t bytes);

// Up to two of the candidates that a person may have meant: at most two edits away, and fewer than half of
// the letters. Nearest first.
std::vector<std::string> did_you_mean(std::string_view typed, std::span<const std::string_view> candidates);

}  // namespace cudaenv::base
