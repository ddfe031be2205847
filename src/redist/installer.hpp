// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/version.hpp"
#include "redist/source.hpp"
#include "store/receipt.hpp"
#include "store/roots.hpp"

namespace cudaenv::redist {

// Told what an installation does as it does it.
class InstallObserver {
 public:
  virtual ~InstallObserver() = default;
  virtual void waiting_for(long process) = 0;
  virtual void started(const core::PlannedComponent& component) = 0;
  virtual void received(const core::PlannedComponent& component, std::uint64_t bytes) = 0;
  virtual void unpacking(const core::PlannedComponent& component) = 0;
  virtual void finished(const core::PlannedComponent& component) = 0;
};

struct InstallRequest {
  core::Version release;
  std::string platform;
  core::ComponentChoice choice;
  std::string manifest_sha256;
  bool replace = false;  // --force: put the new tree in the place of the old one
};

struct InstallOutcome {
  bool was_there = false;  // another process had finished it meanwhile
  std::uint64_t file_count = 0;
  std::uint64_t installed_size = 0;  // bytes
};

// Downloads, verifies, unpacks, merges and commits a toolkit. Until the last rename nothing of it is visible, and if
// that is not reached nothing of it stays. ErrorKind::filesystem up front if there is not room enough.
[[nodiscard]] Result<InstallOutcome> install(const Source& source, const core::ComponentPlan& plan,
                                             const InstallRequest& request, const store::Root& root,
                                             InstallObserver& observer);

}  // namespace cudaenv::redist
