// SPDX-License-Identifier: Apache-2.0
#include "commands/tools.hpp"

#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/selection_problem.hpp"
#include "store/posix_system.hpp"
#include "store/problem.hpp"
#include "store/tool_search.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {

Result<void> check_tool_name(std::string_view tool) {
  if (!tool.empty() && tool.find('/') == std::string_view::npos && tool != "." && tool != "..") return {};
  return fail(ErrorKind::usage, fmt::format("\"{}\" is not the name of a tool", base::escaped(tool)),
              "cudaenv which nvcc");
}

Result<std::vector<std::string>> toolkits_with(const App& app, std::string_view tool) {
  std::vector<std::string> names;
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  for (const store::Toolkit& toolkit : toolkits)
    if (base::executable_exists(toolkit.directory / "bin" / tool)) names.push_back(toolkit.name);
  return names;
}

std::string similar_tools(const App& app, std::string_view tool, std::string_view before) {
  std::set<std::string> all;
  if (const auto toolkits = store::installed_toolkits(app.roots))
    for (const store::Toolkit& toolkit : *toolkits)
      if (const auto tools = store::tools_of(toolkit)) all.insert(tools->begin(), tools->end());
  const std::vector<std::string> near = base::did_you_mean(tool, std::vector<std::string_view>(all.begin(), all.end()));
  std::string text;
  for (const std::string& name : near) text += fmt::format("{}{}{}", text.empty() ? "" : "   or   ", before, name);
  return text;
}

Result<base::Path> find_tool(const App& app, const store::Selected& selected, std::string_view tool) {
  if (selected.is_toolkit()) {
    base::Path path = selected.directory / "bin" / tool;
    if (base::executable_exists(path)) return path;
  } else {
    const std::string list(app.environment.value("PATH"));
    const char* searched = app.environment.get("PATH") ? list.c_str() : nullptr;
    core::PathText path;
    if (store::find_on_path(
            store::PosixSystem(), tool, searched, [](const auto&) { return false; }, path))
      return base::Path(path.view());
  }
  CUDAENV_TRY(names, toolkits_with(app, tool));
  core::ToolkitList having;
  for (const std::string& name : names) having.add(name);
  core::ProblemText text;
  core::describe_missing_tool(selected.view(), tool, having, text);
  Error error = store::to_error(ErrorKind::not_found, text);
  if (error.hint.empty()) error.hint = similar_tools(app, tool, "cudaenv which ");
  return fail(std::move(error));
}

}  // namespace cudaenv::commands
