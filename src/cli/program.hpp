// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/exit_code.hpp"
#include "base/result.hpp"
#include "commands/app.hpp"
#include "commands/options.hpp"

namespace cudaenv::cli {

using Dispatch = std::function<Result<ExitCode>(const commands::Options&, commands::App&,
                                                const std::vector<std::string>& arguments)>;

// Both programs' whole life: parse, build the App, dispatch, print what went wrong. Returns the exit code.
int run_program(int argument_count, char** argument_values, const Dispatch& dispatch);

// Where the parts of this installation lie: beside the program in the same tree, bin/cudaenv and libexec/cudaenv/*.
base::Path libexec_of(const base::Path& program);

}  // namespace cudaenv::cli
