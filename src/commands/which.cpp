// SPDX-License-Identifier: Apache-2.0
#include "commands/run.hpp"
#include "commands/tools.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const WhichOptions& options, App& app) {
  CUDAENV_CHECK(check_tool_name(options.tool));
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  CUDAENV_TRY(path, find_tool(app, chosen, options.tool));
  app.output.data(path.native() + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
