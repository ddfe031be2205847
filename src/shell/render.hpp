// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/env_plan.hpp"
#include "shell/quote.hpp"

namespace cudaenv::shell {

// The plan as text that the shell evaluates. Prints nothing and never ends the shell.
std::string render(Shell shell, const core::EnvPlan& plan);

// KEY=VALUE lines of what the plan sets, for IDEs and other readers of .env files. What it unsets cannot be said.
std::string render_dotenv(const core::EnvPlan& plan);

// What is appended to the file named by GITHUB_ENV: all but PATH, which has a file of its own. Nothing can be unset
// there, so that becomes empty.
std::string render_github(const core::EnvPlan& plan);

}  // namespace cudaenv::shell
