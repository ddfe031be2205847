// SPDX-License-Identifier: Apache-2.0
#include "base/env_names.hpp"
#include "base/process.hpp"
#include "commands/activation.hpp"
#include "commands/run.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const ExecOptions& options, App& app) {
  if (options.command.empty())
    return fail(ErrorKind::usage, "exec needs a command to run", "cudaenv exec -- nvcc --version");
  CUDAENV_TRY(chosen, selected_or_error(app, options.spec));
  CUDAENV_TRY(plan, plan_activation(app, chosen));
  base::Environment environment = app.environment;
  core::apply(plan, environment);
  // A shim that the command comes across, in a sub-directory with a pin of its own too, obeys the version asked for.
  if (options.spec) environment.set(env_names::k_version, chosen.is_toolkit() ? chosen.name : "system");
  CUDAENV_CHECK(app.output.finish());
  return fail(base::replace_process(options.command, environment));
}

}  // namespace cudaenv::commands
