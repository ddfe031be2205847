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

// The tool's real path: in the selected toolkit, or the first on PATH that is no shim, as the shims find it.
// ErrorKind::not_found, in their words, with what may have been meant.
[[nodiscard]] Result<base::Path> find_tool(const App& app, const store::Selected& selected, std::string_view tool);

// Names of the installed toolkits that have the tool.
[[nodiscard]] Result<std::vector<std::string>> toolkits_with(const App& app, std::string_view tool);

// Tools of installed toolkits that may have been meant, each after `before`; empty if there are none.
[[nodiscard]] std::string similar_tools(const App& app, std::string_view tool, std::string_view before);

}  // namespace cudaenv::commands
