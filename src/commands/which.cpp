// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "commands/run.hpp"
#include "commands/tools.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const WhichOptions& options, App& app) {
  CUDAENV_CHECK(check_tool_name(options.tool));
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  if (!chosen.is_toolkit()) {
    CUDAENV_TRY(path, system_tool(app, options.tool));
    app.output.data(path.native() + "\n");
    return ExitCode::done;
  }
  const base::Path path = chosen.directory / "bin" / options.tool;
  if (!base::executable_exists(path))
    return fail(missing_tool(app, options.tool, fmt::format("CUDA {} ({})", chosen.name, chosen.origin_text())));
  app.output.data(path.native() + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
