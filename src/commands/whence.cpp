// SPDX-License-Identifier: Apache-2.0
#include "commands/run.hpp"
#include "commands/tools.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const WhenceOptions& options, App& app) {
  CUDAENV_CHECK(check_tool_name(options.tool));
  CUDAENV_TRY(names, toolkits_with(app, options.tool));
  if (names.empty()) return fail(missing_tool(app, options.tool, "any installed toolkit"));
  for (const std::string& name : names) app.output.data(name + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
