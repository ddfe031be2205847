// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/output.hpp"
#include "commands/app.hpp"
#include "core/component_plan.hpp"
#include "core/registry.hpp"
#include "installer/offer.hpp"

namespace cudaenv::installer {

// What to take of a release for one platform.
struct PlatformPlan {
  std::string platform;
  core::ComponentPlan plan;  // views into the manifest
};

// For each of the platforms, sorted; "all" stands for all that the release has, none at all for this machine's.
// ErrorKind::not_found for one that the release was not published for.
[[nodiscard]] Result<std::vector<PlatformPlan>> plan_platforms(const Offer& offer, const core::ComponentChoice& choice,
                                                               std::vector<std::string> platforms,
                                                               const commands::App& app);

// The release that a spec stands for, of the first base that has it, for `auto` on this machine; warnings are printed.
[[nodiscard]] Result<Offer> chosen_offer(std::vector<redist::Source>& sources, const core::Spec& spec,
                                         const redist::AcceptedManifest& accepted, commands::App& app);

}  // namespace cudaenv::installer
