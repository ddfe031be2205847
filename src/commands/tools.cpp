// SPDX-License-Identifier: Apache-2.0
#include "commands/tools.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "store/tool_search.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {

Result<void> check_tool_name(std::string_view tool) {
  if (!tool.empty() && tool.find('/') == std::string_view::npos && tool != "." && tool != "..") return {};
  return fail(ErrorKind::usage, fmt::format("\"{}\" is not the name of a tool", base::escaped(tool)),
              "cudaenv which nvcc");
}

Result<base::Path> system_tool(const App& app, std::string_view tool) {
  core::PathText path;
  const std::string list(app.environment.value("PATH"));
  if (store::find_on_path(tool, app.environment.get("PATH") ? list.c_str() : nullptr, [](const auto&) { return false; }, path))
    return base::Path(path.view());
  return fail(missing_tool(app, tool, "the system"));
}

Result<std::vector<std::string>> toolkits_with(const App& app, std::string_view tool) {
  std::vector<std::string> names;
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  for (const store::Toolkit& toolkit : toolkits)
    if (base::executable_exists(toolkit.directory / "bin" / tool)) names.push_back(toolkit.name);
  return names;
}

Error missing_tool(const App& app, std::string_view tool, std::string_view where) {
  Error error{ErrorKind::not_found, fmt::format("{} is not in {}", base::escaped(tool), where)};
  const auto having = toolkits_with(app, tool);
  if (having && !having->empty()) {
    error.details.push_back(fmt::format("installed toolkits that have it: {}", base::join(*having, ", ")));
    error.hint = fmt::format("cudaenv exec -v {} -- {}", having->back(), tool);
    return error;
  }
  std::vector<std::string> all;
  if (const auto toolkits = store::installed_toolkits(app.roots))
    for (const store::Toolkit& toolkit : *toolkits)
      if (auto tools = store::tools_of(toolkit)) all.insert(all.end(), tools->begin(), tools->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::vector<std::string> near = base::did_you_mean(tool, std::vector<std::string_view>(all.begin(), all.end()));
  if (!near.empty()) error.hint = fmt::format("cudaenv which {}", base::join(near, "   or   cudaenv which "));
  return error;
}

}  // namespace cudaenv::commands
