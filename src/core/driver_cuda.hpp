// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/registry.hpp"
#include "core/registry_lookup.hpp"

namespace cudaenv::core {

// The CUDA version that the number of a driver stands for.
struct DriverCuda {
  Minor cuda;
  bool is_at_least;           // it may be a newer one too
  std::optional<Minor> most;  // a libcuda that reports more is not of this driver; nothing: the tables do not reach
};

// Nothing for a driver older than the tables. Not for a Jetson, whose numbers (540) mean nothing elsewhere.
std::optional<DriverCuda> cuda_of_driver(const Registry& registry, DottedVersion driver, DriverNumbers numbers);

}  // namespace cudaenv::core
