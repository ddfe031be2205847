// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/activation.hpp"
#include "commands/gate.hpp"
#include "commands/run.hpp"
#include "commands/tools.hpp"
#include "shell/quote.hpp"
#include "store/tool_environment.hpp"

namespace cudaenv::commands {
namespace {

// What to type instead, as long as that is short enough to be typed.
Passage passage_of(const ExecOptions& options) {
  if (!options.spec) return {};
  std::string command;
  for (const std::string& argument : options.command) command += " " + base::escaped(shell::word(argument));
  constexpr std::size_t k_longest = 80;
  if (command.size() > k_longest) command = " COMMAND";
  return {.overriding = fmt::format("CUDAENV_GATE=off cudaenv exec -v {} --{}", *options.spec, command),
          .instead =
              command == " COMMAND" ? "cudaenv local VERSION" : fmt::format("cudaenv exec -v VERSION --{}", command)};
}

// With the very environment that this process got, entries that are no variables too.
Error become_tool(const base::Path& tool, const std::vector<std::string>& arguments, const store::Selected& chosen) {
  const std::string home = fmt::format("{}={}", env_names::k_cuda_home, chosen.directory.native());
  const std::string path = fmt::format("{}={}", env_names::k_cuda_path, chosen.directory.native());
  const store::Setting settings[] = {{home.c_str(), std::strlen(env_names::k_cuda_home)},
                                     {path.c_str(), std::strlen(env_names::k_cuda_path)}};
  const std::size_t count = chosen.is_toolkit() ? std::size(settings) : 0;
  std::vector<char*> environment(store::environment_capacity(environ, count));
  store::set_variables(environ, settings, count, environment.data());
  std::vector<char*> words{const_cast<char*>(tool.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execve(tool.c_str(), words.data(), environment.data());
  return Error{errno == ENOENT ? ErrorKind::no_command : ErrorKind::execution,
               fmt::format("cannot start {}: {}", base::escaped(tool.native()), std::strerror(errno))};
}

// What a shim asks for that cannot tell whether the gate lets its tool pass: the tool is started just as the shim would
// have done it, with the decision left where the next shim finds it.
Result<ExitCode> start_for_shim(const ExecOptions& options, App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  CUDAENV_TRY(settings, settings_for(app, chosen));
  CUDAENV_CHECK(pass_gate(app, chosen, settings, {.telling = Telling::refusals}));
  CUDAENV_TRY(tool, find_tool(app, chosen, *options.shim));
  CUDAENV_CHECK(app.output.finish());
  return fail(become_tool(tool, options.command, chosen));
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
  CUDAENV_TRY(plan, plan_activation(app, chosen, passage_of(options)));
  base::Environment environment = app.environment;
  core::apply(plan, environment);
  // A shim that the command comes across, in a sub-directory with a pin of its own too, obeys the version asked for.
  if (options.spec) environment.set(env_names::k_version, chosen.is_toolkit() ? chosen.name : "system");
  CUDAENV_CHECK(app.output.finish());
  return fail(base::replace_process(options.command, environment));
}

}  // namespace cudaenv::commands
