// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "core/env_plan.hpp"
#include "shell/quote.hpp"

namespace cudaenv::shell {

// The templates of src/shell/templates, as they were at build time.
std::string_view hook_template(Shell shell);

// What the integration needs to know; absolute paths.
struct HookPlaces {
  std::string program;
  std::string hook_program;  // does for `env --hook` what it can without that program; need not be there
  std::string shims;
  std::vector<std::string> global_files;  // version files that count where no project has one, in order
};

// The integration as text that the shell evaluates at its start.
std::string render_hook(Shell shell, const HookPlaces& places);

// The plan as text for a shell that has the integration: right whatever aliases and functions are named like builtins.
// A variable that the shell has but does not export, so that it is not in `exported`, is there again once the plan is
// undone.
std::string render_change(Shell shell, const core::EnvPlan& plan, const base::Environment& exported);

// What a command prints that a hook has started, to be asked again at the next prompt.
std::string_view ask_again(Shell shell);

}  // namespace cudaenv::shell
