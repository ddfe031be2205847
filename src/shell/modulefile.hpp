// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/env_plan.hpp"

namespace cudaenv::shell {

// A modulefile in Tcl, for Environment Modules and Lmod alike, of the toolkit of that name. `plan`: one for
// core::unknown_environment().
std::string render_modulefile(std::string_view name, const core::EnvPlan& plan);

}  // namespace cudaenv::shell
