// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <cstdio>

#include "base/env_names.hpp"
#include "base/process.hpp"
#include "cli/parser.hpp"
#include "commands/facts.hpp"
#include "commands/machine.hpp"

namespace cudaenv::cli {
namespace {

bool is_in_libexec(const base::Path& program) { return program.parent_path().filename() == "cudaenv"; }

// Of the installer, the cudaenv that it belongs to.
base::Path main_program_of(const base::Path& program) {
  return is_in_libexec(program) ? program.parent_path().parent_path().parent_path() / "bin" / "cudaenv" : program;
}

// A shim has found its root by where it lies, and leaves the tool's environment alone.
base::Environment environment_for_roots(const commands::Options& options, const base::Environment& environment) {
  base::Environment result = environment;
  const auto* exec = std::get_if<commands::ExecOptions>(&options);
  if (exec && exec->shim_root) result.set(env_names::k_root, *exec->shim_root);
  return result;
}

Result<ExitCode> run(const Invocation& invocation, const std::vector<std::string>& arguments,
                     const base::Environment& environment, base::Output& output, const Dispatch& dispatch) {
  if (!invocation.options) {
    if (invocation.is_misuse) {
      std::fputs(invocation.text.c_str(), stderr);  // no message of ours: the whole page, as on stdout
      return ExitCode::usage;
    }
    output.data(invocation.text);
    return ExitCode::done;
  }
  CUDAENV_TRY(roots, store::locate_roots(environment_for_roots(*invocation.options, environment)));
  CUDAENV_TRY(program, base::own_program());
  commands::Facts facts(roots, output);
  commands::Machine machine(environment, roots, facts, output);
  commands::App app{environment,
                    output,
                    roots,
                    program,
                    main_program_of(program),
                    libexec_of(program) / "cudaenv-shim",
                    libexec_of(program) / "cudaenv-library-shim.so",
                    libexec_of(program) / "cudaenv-hook",
                    facts,
                    machine};
  return dispatch(*invocation.options, app, arguments);
}

}  // namespace

base::Path libexec_of(const base::Path& program) {
  const base::Path directory = program.parent_path();
  return is_in_libexec(program) ? directory : directory.parent_path() / "libexec" / "cudaenv";
}

int run_program(int argument_count, char** argument_values, const Dispatch& dispatch) {
  const base::Environment environment = base::Environment::of_process();
  const std::vector<std::string> arguments(argument_values + (argument_count > 0 ? 1 : 0),
                                           argument_values + argument_count);
  auto invocation = parse(arguments);
  const GlobalOptions global = invocation ? invocation->global : GlobalOptions{};
  base::Output output(environment, global.verbosity, global.color);
  Result<ExitCode> result =
      invocation ? run(*invocation, arguments, environment, output, dispatch) : fail(std::move(invocation).error());
  if (auto finished = output.finish(); !finished && result) result = fail(std::move(finished).error());
  if (result) return static_cast<int>(*result);
  output.error(result.error());
  return static_cast<int>(exit_code_of(result.error().kind));
}

}  // namespace cudaenv::cli
