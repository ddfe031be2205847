// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/machine_facts.hpp"
#include "core/registry.hpp"

namespace cudaenv::core {

// A machine as a person writes it down. What is not described is unknown.
struct MachineDescription {
  std::optional<std::string> driver;                // "550.54.14", or "none"
  std::optional<std::vector<std::string>> gpus;     // each "8.6" or a product's name; or just "none"
  std::optional<std::string> visible_devices = {};  // as CUDA_VISIBLE_DEVICES; its indices count `gpus`
};

// Where the descriptions were written, for errors: options or variables.
struct DescriptionPlaces {
  std::string driver = "--driver";
  std::string gpus = "--gpu";
};

// ErrorKind::usage if a description is not understood. The CUDA version comes from the number of the driver.
[[nodiscard]] Result<MachineFacts> describe_machine(const MachineDescription& description, const Registry& registry,
                                                    const DescriptionPlaces& places = {});

// The parts of "8.6, 12.0", without blanks.
std::vector<std::string> split_gpu_list(std::string_view text);

}  // namespace cudaenv::core
