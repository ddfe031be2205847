// SPDX-License-Identifier: Apache-2.0
#include "commands/own_architectures.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/child.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace cudaenv::commands {
namespace {

constexpr std::chrono::seconds k_deadline{5};
constexpr std::string_view k_line_start = "compute_";

// Nothing but such lines is believed.
std::vector<std::uint16_t> parsed(std::string_view text) {
  std::vector<std::uint16_t> codes;
  for (std::string_view line : base::split(text, '\n')) {
    line = base::trimmed(line);
    if (line.empty()) continue;
    if (!line.starts_with(k_line_start)) return {};
    line.remove_prefix(k_line_start.size());
    std::uint16_t code = 0;
    const auto end = std::from_chars(line.data(), line.data() + line.size(), code).ptr;
    if (end == line.data()) return {};
    if (end == line.data() + line.size()) codes.push_back(code);  // compute_90a is no code for others
  }
  std::sort(codes.begin(), codes.end());
  return codes;
}

}  // namespace

std::optional<std::vector<std::uint16_t>> own_architectures(const base::Path& toolkit,
                                                            const base::Environment& environment) {
  const base::Path nvcc = toolkit / "bin" / "nvcc";
  if (!base::executable_exists(nvcc)) return std::vector<std::uint16_t>();
  const auto outcome = base::run_child(
      [&](int output) {
        return base::become_program({nvcc.native(), "--list-gpu-arch"}, environment, output);
      },
      k_deadline);
  if (!outcome || outcome->end != base::ChildOutcome::End::exited) return std::nullopt;
  return outcome->number == 0 ? parsed(outcome->output) : std::vector<std::uint16_t>();
}

}  // namespace cudaenv::commands
