// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/observation.hpp"

namespace cudaenv::core {

// The GPU half of conclude(), once `facts` holds the driver's.
void conclude_gpus(const Observation& seen, const Registry& registry, MachineFacts& facts);

}  // namespace cudaenv::core
