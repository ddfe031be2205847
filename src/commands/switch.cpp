// SPDX-License-Identifier: Apache-2.0
#include "commands/switch.hpp"

#include "commands/activation.hpp"
#include "commands/gate.hpp"
#include "shell/hook.hpp"
#include "store/switch_memory.hpp"

namespace cudaenv::commands {
namespace {

// What the shell is to evaluate for the selection, or the error that stands in its way.
Result<std::string> text_for(App& app, shell::Shell shell) {
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  app.machine.decisions();  // makes the place that records and texts are kept in
  const store::SwitchMemory memory(app.roots, shell::name_of(shell), app.program, chosen);
  const auto plan = plan_activation(app, chosen, {});
  if (!plan || app.output.has_told() || app.machine.is_asked_in_background()) memory.forget();
  if (!plan) return fail(plan.error());
  std::string text = shell::render_change(shell, *plan, app.environment);
  if (app.output.has_told() || app.machine.is_asked_in_background()) return text;
  if (const auto kept = memory.keep(text); !kept)
    app.output.detail("the switch cannot be kept, so the next one takes as long: " + kept.error().message);
  return text;
}

}  // namespace

Result<ExitCode> print_switch(App& app, shell::Shell shell) {
  // A driver may take seconds to answer, and a prompt must not.
  app.machine.ask_in_background();
  auto text = text_for(app, shell);
  if (!text) {
    app.output.error(text.error());
    text = shell::render_change(shell, plan_leaving(app), app.environment);
  }
  if (app.machine.is_asked_in_background()) *text += shell::ask_again(shell);
  app.output.data(*text);
  return ExitCode::done;
}

}  // namespace cudaenv::commands
