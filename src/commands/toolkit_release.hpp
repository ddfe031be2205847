// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/files.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::commands {

// The release that a toolkit's directory holds, whoever installed it: as its version.json or version.txt says, else by
// the number that nvcc carries. Nothing if it cannot be told.
std::optional<core::Version> release_in(const base::Path& directory, const core::Registry& registry);

}  // namespace cudaenv::commands
