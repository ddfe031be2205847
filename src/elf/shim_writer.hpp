// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "elf/shim_plan.hpp"

namespace cudaenv::elf {

// The bytes of a library shim, made of the template (shims/cudart); equal for equal arguments. ErrorKind::internal if
// the template is damaged, ErrorKind::config if there are more functions than it has room for.
[[nodiscard]] Result<std::string> write_shim(const std::string& shim_template, const ShimPlan& plan);

// Whether a file that begins like this is a library shim.
bool is_shim(std::string_view bytes);

}  // namespace cudaenv::elf
