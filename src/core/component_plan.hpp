// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/manifest.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

enum class Profile {
  minimal,   // to compile and link a .cu file
  standard,  // "default": what NVIDIA's installer brings, less the big tools
  full,      // all of the toolkit: never driver, compat or Windows components
};

std::string_view to_text(Profile profile);
std::optional<Profile> parse_profile(std::string_view text);

// What a person asked for.
struct ComponentChoice {
  Profile profile = Profile::standard;
  std::vector<std::string> with;     // more components, by name, of any class
  std::vector<std::string> without;  // fewer; and words for groups of files (core/file_choice.hpp)
};

struct PlannedComponent {
  const Component* component;  // of the manifest
  Archive archive;
  const ComponentRow* row;  // null: the registry doesn't know it (asked for by name)

  std::string product = {};        // what it belongs to (core/product.hpp); empty: the toolkit
  std::string place = {};          // directory of the toolkit that holds all of it; empty: where each file belongs
  std::string lib_directory = {};  // "12": of the archive's lib/<number>/ only this one is for the toolkit
};

// Whether the archive is one for every CUDA, as the toolkit's own are.
bool is_flat(const PlatformArchives& archives);

// "13.5" of the variant "cuda13.5"
std::string_view cuda_of_variant(std::string_view variant);

// The archive built for the release: that for its minor ("cuda13.3"), for its major ("cuda13"), for the newest minor of
// the major that is not newer, or else the only one of the major. A flat one is taken to be. Null if there is none.
const Archive* archive_for(const PlatformArchives& archives, const Version& release);

// Views refer to manifest and registry.
struct ComponentPlan {
  std::vector<PlannedComponent> components;  // sorted by name
  std::vector<std::string> unknown;          // in the manifest for this platform, unknown to the registry, left out

  // What was asked away although it is needed, with those that need it.
  std::vector<std::pair<std::string, std::vector<std::string>>> unmet;

  std::uint64_t download_size() const;
  const PlannedComponent* find(std::string_view name) const;
};

// The components to install: those of the profile that the manifest has for the platform, those asked for, and what
// they need (less what was asked away). A component of class driver or compat comes only by its name.
// ErrorKind::not_found, with what may have been meant, for a name that is not in the manifest or not for the platform.
[[nodiscard]] Result<ComponentPlan> plan_components(const Manifest& manifest, const Registry& registry,
                                                    const Version& release, std::string_view platform,
                                                    const ComponentChoice& choice);

}  // namespace cudaenv::core
