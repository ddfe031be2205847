// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/environment.hpp"
#include "core/observation.hpp"
#include "core/registry.hpp"

namespace cudaenv::driver {

inline constexpr std::chrono::milliseconds k_deadline{10'000};

// Asks this machine for its driver and GPUs: the kernel's files below CUDAENV_HOST_ROOT, then libcuda and NVML in a
// child, which may hang or crash as it likes; what it had told by then counts. Takes the deadline at most, and a second
// more if the child cannot be killed. Never fails: what could not be had is missing in the observation.
//
// With CUDAENV_HOST_ROOT the libraries are looked for in CUDAENV_DRIVER_PATH and below that root only.
core::Observation observe(const base::Environment& environment, const core::Registry& registry,
                          std::chrono::milliseconds deadline = k_deadline);

}  // namespace cudaenv::driver
