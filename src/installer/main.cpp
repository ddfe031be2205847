// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "cli/program.hpp"
#include "commands/run.hpp"

// Started by cudaenv, with its arguments, for the commands that download or compute digests.
namespace {

using namespace cudaenv;

Result<ExitCode> dispatch(const commands::Options& options, commands::App& app, const std::vector<std::string>&) {
  return std::visit(
      [&](const auto& typed) -> Result<ExitCode> {
        if constexpr (commands::is_for_installer<std::decay_t<decltype(typed)>>)
          return commands::run(typed, app);
        else
          return fail(ErrorKind::usage, "this program is a part of cudaenv and is not started by itself",
                      "cudaenv help");
      },
      options);
}

}  // namespace

int main(int argument_count, char** arguments) {
  ::signal(SIGPIPE, SIG_IGN);  // a server that hangs up is a network error, not the end of this program
  return cli::run_program(argument_count, arguments, dispatch);
}
