// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/app.hpp"
#include "core/component_plan.hpp"
#include "redist/source.hpp"
#include "store/settings.hpp"

// What the commands that fetch have in common.

namespace cudaenv::installer {

inline constexpr std::string_view k_licence = "https://docs.nvidia.com/cuda/eula/";

// The bases to fetch from, in order: those that were typed, else those of the settings, else NVIDIA's own.
[[nodiscard]] Result<std::vector<redist::Source>> open_sources(const std::vector<std::string>& typed,
                                                               const store::Settings& settings,
                                                               const commands::App& app);

// As typed, or else as the variable has it.
redist::AcceptedManifest accepted_manifest(const std::string& typed, const commands::App& app);

// ErrorKind::usage, with what to type instead, unless it is a profile.
[[nodiscard]] Result<core::Profile> typed_profile(const std::string& typed, const std::string& hint);

// Says what may come as a surprise of what a plan leaves out; `done`: what is not done with it, "installed".
void tell_left_out(base::Output& output, const core::ComponentPlan& plan, core::Profile profile, std::string_view done);

}  // namespace cudaenv::installer
