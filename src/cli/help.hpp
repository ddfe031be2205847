// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "commands/table.hpp"

namespace cudaenv::cli {

std::string main_help();
std::string version_text();

// The page of one command; `options` is the parser's list of them.
std::string command_help(const commands::CommandRow& row, const std::string& options);

}  // namespace cudaenv::cli
