// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::base {

// Replaces this process by the command, looked up on the PATH of that environment as a shell would. Returns only if
// that fails.
Error replace_process(const std::vector<std::string>& command, const Environment& environment);

// For a child of run_child(): the same with the program's own path, and what it prints to its standard output going to
// `output`. Returns the exit status of a child that could not.
int become_program(const std::vector<std::string>& command, const Environment& environment, int output);

// The real path of the running program.
[[nodiscard]] Result<Path> own_program();

// The directory that the user is in: PWD if it names the working directory, else the physical path.
[[nodiscard]] Result<Path> working_directory(const Environment& environment);

}  // namespace cudaenv::base
