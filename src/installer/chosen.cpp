// SPDX-License-Identifier: Apache-2.0
#include "installer/chosen.hpp"

#include <algorithm>

#include "core/platform.hpp"
#include "store/machine.hpp"

namespace cudaenv::installer {

Result<std::vector<PlatformPlan>> plan_platforms(const Offer& offer, const core::ComponentChoice& choice,
                                                 std::vector<std::string> platforms, const commands::App& app) {
  const core::Manifest& manifest = offer.manifest.manifest;
  if (std::find(platforms.begin(), platforms.end(), "all") != platforms.end()) platforms = core::platforms_of(manifest);
  if (platforms.empty()) {
    CUDAENV_TRY(own, core::platform_for(store::this_machine(app.environment), offer.release, manifest));
    platforms.push_back(own);
  }
  std::sort(platforms.begin(), platforms.end());
  platforms.erase(std::unique(platforms.begin(), platforms.end()), platforms.end());
  std::vector<PlatformPlan> plans;
  for (const std::string& platform : platforms) {
    CUDAENV_CHECK(core::check_platform(platform, offer.release, manifest));
    CUDAENV_TRY(plan, core::plan_components(manifest, app.facts.registry(), offer.release, platform, choice));
    plans.push_back({platform, std::move(plan)});
  }
  return plans;
}

Result<Offer> chosen_offer(std::vector<redist::Source>& sources, const core::Spec& spec,
                           const redist::AcceptedManifest& accepted, commands::App& app) {
  const core::MachineFacts* machine = nullptr;
  if (spec.kind == core::SpecKind::automatic) {
    CUDAENV_TRY(facts, app.machine.facts(commands::Asking::anew));
    machine = facts;
  }
  CUDAENV_TRY(offer, first_offer(sources, spec, accepted, app.facts.registry(), machine, app.output));
  if (!offer.manifest.warning.empty()) app.output.warning(offer.manifest.warning);
  return std::move(offer);
}

}  // namespace cudaenv::installer
