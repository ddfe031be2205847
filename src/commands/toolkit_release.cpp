// SPDX-License-Identifier: Apache-2.0
#include "commands/toolkit_release.hpp"

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/text.hpp"
#include "core/registry_lookup.hpp"

namespace cudaenv::commands {
namespace {

// The release that an installer's version.json or an old version.txt names.
std::optional<core::Version> recorded_release(const base::Path& directory) {
  if (const auto text = base::read_file(directory / "version.json", 1 << 20); text && *text) {
    const auto document = base::parse_json(**text);
    const base::Value* cuda = document ? document->find("cuda") : nullptr;
    if (cuda)
      if (const auto release = core::parse_version(cuda->text("version"))) return release;
  }
  if (const auto text = base::read_file(directory / "version.txt", 1 << 16); text && *text) {
    const std::string_view line = base::trimmed(**text);  // CUDA Version 10.2.89
    const std::size_t space = line.rfind(' ');
    if (space != std::string_view::npos) return core::parse_version(line.substr(space + 1));
  }
  return std::nullopt;
}

// The release by the number that nvcc carries in its text, "V13.0.88". The file is read, not run.
std::optional<core::Version> release_of_nvcc(const base::Path& nvcc, const core::Registry& registry) {
  const auto content = base::read_file(nvcc, 512u << 20);
  if (!content || !*content) return std::nullopt;
  const std::string& bytes = **content;
  constexpr std::string_view k_before = ", V";  // "release 13.0, V13.0.88"
  for (std::size_t at = bytes.find("release "); at != std::string::npos; at = bytes.find("release ", at + 1)) {
    const std::string_view text = std::string_view(bytes).substr(at, 64);
    const std::size_t start = text.find(k_before);
    if (start == std::string_view::npos) continue;
    std::string_view number = text.substr(start + k_before.size());
    number = number.substr(0, number.find_first_not_of("0123456789."));
    if (const auto version = core::parse_dotted_version(number))
      if (const auto match = core::release_of_component_version(registry, *version)) return match->release->release;
  }
  return std::nullopt;
}

}  // namespace

std::optional<core::Version> release_in(const base::Path& directory, const core::Registry& registry) {
  if (const auto release = recorded_release(directory)) return release;
  return release_of_nvcc(directory / "bin" / "nvcc", registry);
}

}  // namespace cudaenv::commands
