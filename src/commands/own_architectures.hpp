// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace cudaenv::commands {

// What the nvcc of a toolkit says it can compile for (`nvcc --list-gpu-arch`), ascending: 75 is compute_75. Empty if
// there is no nvcc, it does not know the option (it came with 11), or does not run on this machine.
std::vector<std::uint16_t> own_architectures(const base::Path& toolkit, const base::Environment& environment);

}  // namespace cudaenv::commands
