// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/observation.hpp"
#include "core/registry.hpp"
#include "driver/libraries.hpp"

namespace cudaenv::driver {

// Asks libcuda and NVML, and writes to `output` what they answer, as texts of observations, at once: any call may hang
// or crash. `known` is what the kernel's files say. Loads libraries for good and is meant for a child process.
void ask_libraries(core::Observation known, const core::Registry& registry, const LibrarySearch& search, int output);

}  // namespace cudaenv::driver
