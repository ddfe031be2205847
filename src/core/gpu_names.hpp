// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/registry.hpp"

namespace cudaenv::core {

// The products that a person may mean by a name: "RTX 4090", "4090", "rtx4090", "Tesla V100", "A100 80GB". The closest
// reading that any product fits: the whole name, its start, or its words in any place. Empty if none does; with more
// than one compute capability among them the name leaves a doubt.
std::vector<const GpuRow*> gpus_meant(const Registry& registry, std::string_view typed);

}  // namespace cudaenv::core
