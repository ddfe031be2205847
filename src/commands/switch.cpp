// SPDX-License-Identifier: Apache-2.0
#include "commands/switch.hpp"

#include "commands/activation.hpp"
#include "commands/gate.hpp"
#include "shell/hook.hpp"

namespace cudaenv::commands {
namespace {

// The plan for a selection, or the error that stands in its way.
Result<core::EnvPlan> plan_for(App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  return plan_activation(app, chosen, {});
}

}  // namespace

Result<ExitCode> print_switch(App& app, shell::Shell shell) {
  // A driver may take seconds to answer, and a prompt must not.
  app.machine.ask_in_background();
  auto plan = plan_for(app);
  if (!plan) {
    app.output.error(plan.error());
    plan = plan_leaving(app);
  }
  std::string text = shell::render_change(shell, *plan, app.environment);
  if (app.machine.is_asked_in_background()) text += shell::ask_again(shell);
  app.output.data(text);
  return ExitCode::done;
}

}  // namespace cudaenv::commands
