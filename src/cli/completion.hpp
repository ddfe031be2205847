// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/parser.hpp"
#include "shell/quote.hpp"

namespace cudaenv::cli {

// The completion script of a shell for all that may be typed. Words and descriptions stand in it; what changes from day
// to day (installed toolkits, their tools) it asks of `cudaenv complete`, in one process at a TAB.
std::string completion_script(shell::Shell shell, const Shape& program);

}  // namespace cudaenv::cli
