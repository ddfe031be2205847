// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "commands/options.hpp"

namespace cudaenv::commands {

// The options of an install as they can be typed again, each with a blank before it: for a hint. Credentials in an
// address are left out.
std::string retyped(const InstallOptions& options);

// The command, its products and its mirrors: what is left to be typed is the toolkit.
std::string retyped(const AddOptions& options);

// The whole command for a toolkit.
std::string retyped(const RepairOptions& options, std::string_view name);

// The whole command for a release.
std::string retyped(const InstallOptions& options, std::string_view release);

}  // namespace cudaenv::commands
