// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "elf/shim_plan.hpp"
#include "store/shim_sources.hpp"

namespace cudaenv::store {

struct PlannedShim {
  elf::ShimPlan plan;
  std::string refusal;  // why there can be none; empty: there can
};

// A shim for each SONAME of an installed library, with the functions of all libraries that have it, and one for each
// other `known` SONAME, with the functions of all of its kind: it is enough for a loader to get as far as the refusal.
std::vector<PlannedShim> plan_shims(const ShimSources& sources, const std::vector<std::string>& known,
                                    const std::string& root);

}  // namespace cudaenv::store
