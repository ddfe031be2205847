// SPDX-License-Identifier: Apache-2.0
#include "commands/run.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const RootOptions&, App& app) {
  app.output.data(app.roots.own.path.native() + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
