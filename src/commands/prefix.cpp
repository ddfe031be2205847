// SPDX-License-Identifier: Apache-2.0
#include "commands/run.hpp"
#include "commands/tools.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const PrefixOptions& options, App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, options.spec));
  if (chosen.is_toolkit()) {
    app.output.data(chosen.directory.native() + "\n");
    return ExitCode::done;
  }
  // Outside any toolkit of ours: that of the nvcc which runs.
  CUDAENV_TRY(nvcc, find_tool(app, chosen, "nvcc"));
  std::error_code error;
  const base::Path real = std::filesystem::canonical(nvcc, error);
  app.output.data((error ? nvcc : real).parent_path().parent_path().native() + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
