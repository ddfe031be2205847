// SPDX-License-Identifier: Apache-2.0
#include "core/platform.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

// Jetson's own archives end with 12.9; from 13.0 on it takes those of Arm servers.
constexpr std::uint32_t k_first_major_shared_by_tegra = 13;

// Whether a toolkit can be made for it. "linux-all" holds scripts that fit everywhere; Windows comes as .zip.
bool is_toolkit_platform(std::string_view platform) {
  return platform.starts_with("linux-") && platform != "linux-all" && is_component_name(platform);
}

bool has_platform(const Manifest& manifest, std::string_view platform) {
  for (const Component& component : manifest.components)
    if (component.archives_for(platform)) return true;
  return false;
}

Error not_published(std::string_view platform, const Version& release, const Manifest& manifest) {
  return Error{ErrorKind::not_found,
               fmt::format("CUDA {} has no archives for {}", to_text(release), base::escaped(platform)),
               "cudaenv install --list",
               {fmt::format("there are some for {}", base::join(platforms_of(manifest), ", "))}};
}

}  // namespace

std::string platform_name(const Machine& machine, const Version& release) {
  if (machine.cpu != "aarch64" && machine.cpu != "arm64") return "linux-" + machine.cpu;
  const bool takes_jetson = machine.is_tegra && release.major < k_first_major_shared_by_tegra;
  return takes_jetson ? "linux-aarch64" : "linux-sbsa";
}

Result<std::string> platform_for(const Machine& machine, const Version& release, const Manifest& manifest) {
  std::string platform = platform_name(machine, release);
  CUDAENV_CHECK(check_platform(platform, release, manifest));
  return platform;
}

Result<void> check_platform(std::string_view platform, const Version& release, const Manifest& manifest) {
  if (is_toolkit_platform(platform) && has_platform(manifest, platform)) return {};
  return fail(not_published(platform, release, manifest));
}

std::vector<std::string> platforms_of(const Manifest& manifest) {
  std::set<std::string> platforms;
  for (const Component& component : manifest.components)
    for (const PlatformArchives& archives : component.platforms)
      if (is_toolkit_platform(archives.platform)) platforms.insert(archives.platform);
  return {platforms.begin(), platforms.end()};
}

std::string target_directory(std::string_view platform) {
  platform.remove_prefix(platform.starts_with("linux-") ? 6 : 0);
  return std::string(platform) + "-linux";
}

}  // namespace cudaenv::core
