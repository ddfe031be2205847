// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "commands/app.hpp"

namespace cudaenv::commands {

// Whether the text can be a tool's name: a file name, not a path.
[[nodiscard]] Result<void> check_tool_name(std::string_view tool);

// The first program of that name on PATH that is no shim, as the shims find it. ErrorKind::not_found.
[[nodiscard]] Result<base::Path> system_tool(const App& app, std::string_view tool);

// Names of the installed toolkits that have the tool.
[[nodiscard]] Result<std::vector<std::string>> toolkits_with(const App& app, std::string_view tool);

// The error for a tool that `where` ("CUDA 12.8.1") lacks: who has it, or what may have been meant.
[[nodiscard]] Error missing_tool(const App& app, std::string_view tool, std::string_view where);

}  // namespace cudaenv::commands
