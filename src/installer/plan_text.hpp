// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "core/component_plan.hpp"
#include "redist/install_observer.hpp"
#include "store/receipt.hpp"

namespace cudaenv::installer {

// What installing one component comes to.
struct PlannedPart {
  std::string name;
  std::string version;
  redist::ComponentOrigin origin = redist::ComponentOrigin::fetched;
  std::uint64_t archive = 0;  // bytes
  std::uint64_t unpacked = 0;
  bool is_estimate = true;  // of `unpacked`; else it is known from a receipt
};

// What an installation comes to.
struct PlanSummary {
  std::vector<PlannedPart> parts;

  std::uint64_t to_fetch() const;
  std::uint64_t unpacked() const;  // of what is not shared: about the room that it takes
  std::uint64_t shared() const;    // bytes that take no room again
  bool is_estimate() const;        // of `unpacked`
};

// `without`: as it was typed; `receipts`: of the toolkits that files can be shared with; `is_kept` tells of an
// archive's digest whether the archive is here.
PlanSummary summarize(const core::ComponentPlan& plan, const std::vector<std::string>& without,
                      const std::vector<store::Receipt>& receipts,
                      const std::function<bool(const std::string&)>& is_kept);

// For --dry-run: a line a component, then the sums, then what is free at that place.
std::string plan_text(const PlanSummary& summary, const base::Path& place, std::uint64_t free);

}  // namespace cudaenv::installer
