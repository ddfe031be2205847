// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/activation.hpp"
#include "commands/gate.hpp"
#include "commands/run.hpp"
#include "commands/tools.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {
namespace {

// The same with another toolkit, where that is short enough to be typed.
std::string retyped_with_another(const ExecOptions& options) {
  std::string text = "cudaenv exec -v VERSION --";
  for (const std::string& argument : options.command) text += " " + base::escaped(shell::word(argument));
  constexpr std::size_t k_longest = 100;
  return options.spec && text.size() <= k_longest ? text : "";
}

// What a shim asks for that cannot tell whether the gate lets its tool pass: the tool is started just as the shim would
// have done it, with the decision left where the next shim finds it.
Result<ExitCode> start_for_shim(const ExecOptions& options, App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  CUDAENV_TRY(settings, settings_for(app, chosen));
  CUDAENV_CHECK(pass_gate(app, chosen, settings, {.telling = Telling::refusals}));
  CUDAENV_TRY(tool, find_tool(app, chosen, *options.shim));
  base::Environment environment = app.environment;
  if (chosen.is_toolkit()) {
    environment.set(env_names::k_cuda_home, chosen.directory.native());
    environment.set(env_names::k_cuda_path, chosen.directory.native());
  }
  if (options.is_root_from_shim) environment.unset(env_names::k_root);
  std::vector<std::string> command{tool.native()};
  command.insert(command.end(), options.command.begin(), options.command.end());
  CUDAENV_CHECK(app.output.finish());
  return fail(base::replace_process(command, environment));
}

// The exit codes of a shim are those of a shell.
Result<ExitCode> run_for_shim(const ExecOptions& options, App& app) {
  auto started = start_for_shim(options, app);
  if (started) return started;
  Error error = std::move(started).error();
  if (error.kind == ErrorKind::incompatible) error.kind = ErrorKind::execution;
  if (error.kind == ErrorKind::not_found || error.kind == ErrorKind::not_installed) error.kind = ErrorKind::no_command;
  return fail(std::move(error));
}

}  // namespace

Result<ExitCode> run(const ExecOptions& options, App& app) {
  if (options.shim) return run_for_shim(options, app);
  if (options.command.empty())
    return fail(ErrorKind::usage, "exec needs a command to run", "cudaenv exec -- nvcc --version");
  CUDAENV_TRY(chosen, selected_or_error(app, options.spec));
  CUDAENV_TRY(plan, plan_activation(app, chosen, retyped_with_another(options)));
  base::Environment environment = app.environment;
  core::apply(plan, environment);
  // A shim that the command comes across, in a sub-directory with a pin of its own too, obeys the version asked for.
  if (options.spec) environment.set(env_names::k_version, chosen.is_toolkit() ? chosen.name : "system");
  CUDAENV_CHECK(app.output.finish());
  return fail(base::replace_process(options.command, environment));
}

}  // namespace cudaenv::commands
