// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "commands/run.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const VersionOptions&, App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  app.output.data(fmt::format("{} ({})\n", chosen.is_toolkit() ? chosen.name : "system", chosen.origin_text()));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
