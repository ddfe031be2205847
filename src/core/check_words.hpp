// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check_rules.hpp"

namespace cudaenv::core {

// Words for people in trouble: what does not fit, with name and number, in one line; what helps, as a clause of its
// own.
void put_driver_words(const CheckCase& question, Reason& reason);
void put_gpu_words(const CheckCase& question, Reason& reason);

// "driver 550.54.14", "Windows driver 551.61", "this driver"
std::string driver_name(const CheckCase& question);

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& texts);

// GPUs of one kind together: "GPUs 0-3 (NVIDIA A100-SXM4-80GB, 8.0)".
std::string gpus_text(const MachineFacts& machine, const std::vector<std::uint32_t>& positions);

// Adds ids that are not there yet to the reason's source.
void cite(Reason& reason, std::string_view ids);

// The toolkit's rows; null where its release is unknown or not in the table.
const ReleaseRow* release_row(const CheckCase& question);
const ToolkitArchitecturesRow* architectures_row(const CheckCase& question);

}  // namespace cudaenv::core
