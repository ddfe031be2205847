// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/version.hpp"
#include "redist/install_observer.hpp"
#include "redist/source.hpp"
#include "store/receipt.hpp"
#include "store/roots.hpp"
#include "store/staging.hpp"

namespace cudaenv::redist {

struct InstallRequest {
  core::Version release;
  std::string platform;
  core::ComponentChoice choice;
  std::string manifest_sha256;
  bool replace = false;  // --force: put the new tree in the place of the old one
  std::string command;   // what was typed, for hints
};

struct InstallOutcome {
  std::optional<store::Receipt> found = std::nullopt;  // another process had finished it meanwhile: nothing was done
  std::uint64_t file_count = 0;
  std::uint64_t installed_size = 0;                       // bytes
  std::optional<store::Staging> replaced = std::nullopt;  // holds the tree that stood there
};

// Downloads, verifies, unpacks, merges and commits a toolkit. Until the last rename nothing of it is visible, and if
// that is not reached nothing of it stays. ErrorKind::filesystem up front if there is not room enough.
// The manifest is that of the first source. An archive that is absent or cannot be reached there is taken from the next
// one that has the same manifest; one that differs from the manifest is final.
[[nodiscard]] Result<InstallOutcome> install(std::vector<Source> sources, const core::ComponentPlan& plan,
                                             const InstallRequest& request, const store::Root& root,
                                             InstallObserver& observer);

}  // namespace cudaenv::redist
