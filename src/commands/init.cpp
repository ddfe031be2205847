// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "commands/run.hpp"
#include "commands/shells.hpp"
#include "shell/hook.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const InitOptions& options, App& app) {
  CUDAENV_TRY(shell, parse_shell(options.shell, "cudaenv init bash"));
  shell::HookPlaces places{app.main_program.native(), app.hook_program.native(), app.roots.own.shims().native(), {}};
  for (const store::Root* root : app.roots.both()) places.global_files.push_back(root->version_file().native());
  app.output.data(shell::render_hook(shell, places));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
