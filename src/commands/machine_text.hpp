// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/value.hpp"
#include "core/machine_facts.hpp"

namespace cudaenv::commands {

// "driver 550.54.14, CUDA 12.4", "no driver".
std::string driver_line(const core::MachineFacts& machine);

// One line a GPU, with what is special about it; or why there is none.
std::vector<std::string> gpu_lines(const core::MachineFacts& machine);

// In MIG mode, where work runs in instances, and none is there.
bool is_without_instance(const core::Gpu& gpu);

// "MIG with 2 instances"
std::string mig_text(const core::Gpu& gpu);

// "libcuda", "NVML", ...: how a fact was learnt, for a person.
std::string_view to_text(core::FactSource source);

// All of it, for --json.
base::Value document(const core::MachineFacts& machine);

}  // namespace cudaenv::commands
