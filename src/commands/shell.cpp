// SPDX-License-Identifier: Apache-2.0
// `shell`: the toolkit of one shell, by CUDAENV_VERSION. A program cannot change the shell that started it, so the
// function of the integration asks for what to evaluate (--emit).
#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "commands/run.hpp"
#include "commands/shells.hpp"
#include "core/env_plan.hpp"
#include "shell/hook.hpp"

namespace cudaenv::commands {
namespace {

constexpr std::string_view k_off = "off";

Result<ExitCode> show(App& app) {
  const std::string_view version = app.environment.value(env_names::k_version);
  if (version.empty())
    return fail(ErrorKind::not_found, fmt::format("{} is not set in this shell", env_names::k_version),
                "cudaenv shell VERSION");
  app.output.data(std::string(version) + "\n");
  return ExitCode::done;
}

// What --force opened, and nothing else, is closed again.
core::EnvPlan plan_unset(const App& app) {
  core::EnvPlan plan{{{env_names::k_version, std::nullopt}}};
  if (app.environment.value(env_names::k_gate) == k_off) plan.changes.emplace_back(env_names::k_gate, std::nullopt);
  return plan;
}

Result<core::EnvPlan> plan_set(const ShellOptions& options, App& app) {
  core::EnvPlan plan{{{env_names::k_version, *options.spec}}};
  CUDAENV_TRY(chosen, selected(app, options.spec));
  if (chosen.problem && !options.force) return fail(std::move(*chosen.problem));
  if (chosen.problem) {
    app.output.warning(chosen.problem->message);
    return plan;
  }
  CUDAENV_TRY(settings, settings_for(app, chosen));
  const auto passed = pass_gate(
      app, chosen, settings,
      {Asking::anew, Telling::all, fmt::format("cudaenv shell {} --force", *options.spec), "cudaenv shell VERSION"});
  if (passed) return plan;
  if (passed.error().kind != ErrorKind::incompatible || !options.force) return fail(passed.error());
  app.output.warning(fmt::format("set all the same: {}", passed.error().message));
  plan.changes.emplace_back(env_names::k_gate, std::string(k_off));
  return plan;
}

}  // namespace

Result<ExitCode> run(const ShellOptions& options, App& app) {
  if (options.unset && options.spec)
    return fail(ErrorKind::usage, "shell takes a version or --unset, not both", "cudaenv shell --unset");
  if (!options.unset && !options.spec) {
    if (options.emit.empty()) return show(app);
    // The text is evaluated, so what is shown goes to the person.
    const std::string_view version = app.environment.value(env_names::k_version);
    if (version.empty()) return show(app);
    app.output.note(version);
    return ExitCode::done;
  }
  if (options.emit.empty())
    return fail(ErrorKind::usage, "shell works through the shell integration, which is not loaded here",
                "eval \"$(cudaenv init bash)\"",
                {fmt::format("or set the variable: export {}={}", env_names::k_version,
                             base::escaped(options.spec.value_or("VERSION")))});
  CUDAENV_TRY(shell, parse_shell(options.emit, "cudaenv init bash"));
  if (options.unset) {
    app.output.data(shell::render_change(shell, plan_unset(app), app.environment));
    return ExitCode::done;
  }
  CUDAENV_TRY(plan, plan_set(options, app));
  app.output.data(shell::render_change(shell, plan, app.environment));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
