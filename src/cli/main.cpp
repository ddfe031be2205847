// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"
#include "cli/program.hpp"
#include "commands/run.hpp"

// What needs the network's libraries is a program of its own, since loading them costs more than everything else here.
namespace {

using namespace cudaenv;

// Returns only if it cannot be started.
Result<ExitCode> run_installer(const commands::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{(cli::libexec_of(app.program) / "cudaenv-installer").native()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return fail(base::replace_process(command, app.environment));
}

Result<ExitCode> dispatch(const commands::Options& options, commands::App& app,
                          const std::vector<std::string>& arguments) {
  return std::visit(
      [&](const auto& typed) -> Result<ExitCode> {
        if constexpr (commands::is_for_installer<std::decay_t<decltype(typed)>>)
          return run_installer(app, arguments);
        else
          return commands::run(typed, app);
      },
      options);
}

}  // namespace

int main(int argument_count, char** arguments) { return cli::run_program(argument_count, arguments, dispatch); }
