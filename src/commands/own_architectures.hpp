// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"

namespace cudaenv::commands {

// What the nvcc of a toolkit says it can compile for (`nvcc --list-gpu-arch`), ascending: 75 is compute_75. Empty if
// there is no nvcc, or it does not know the option (it came with 11); nothing if it could not be asked (a file system
// that is slow just now).
std::optional<std::vector<std::uint16_t>> own_architectures(const base::Path& toolkit,
                                                            const base::Environment& environment);

}  // namespace cudaenv::commands
