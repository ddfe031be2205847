// SPDX-License-Identifier: Apache-2.0
#include "commands/run.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const RehashOptions&, App& app) {
  CUDAENV_CHECK(refresh_shims(app));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
