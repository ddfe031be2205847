// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/printable.hpp"

namespace cudaenv::base {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

// Optimal string alignment: insertions, deletions, changes and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find(separator, start)) != std::string_view::npos; start = end + 1)
    parts.push_back(text.substr(start, end - start));
  parts.push_back(text.substr(start));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = printable_length(text);
    if (size != 0)
      out += text.substr(0, size);
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::string_view k_units[] = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.95 && unit + 1 < std::size(k_units)) {
    amount /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", amount, k_units[unit]);
}

std::vector<std::string> did_you_mean(std::string_view typed, std::span<const std::string_view> candidates) {
  constexpr std::size_t k_furthest = 2;
  constexpr std::size_t k_most_offers = 2;
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(typed.size(), candidate.size());
    if (longer - std::min(typed.size(), candidate.size()) > k_furthest) continue;
    const std::size_t distance = edit_distance(typed, candidate);
    if (distance <= k_furthest && distance * 2 < longer) near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> offers;
  for (const auto& [distance, candidate] : near)
    if (offers.size() < k_most_offers && (offers.empty() || offers.back() != candidate)) offers.emplace_back(candidate);
  return offers;
}

}  // namespace cudaenv::base
