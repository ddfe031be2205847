// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "commands/activation.hpp"
#include "commands/run.hpp"
#include "commands/shells.hpp"
#include "commands/switch.hpp"
#include "shell/modulefile.hpp"
#include "shell/render.hpp"

namespace cudaenv::commands {
namespace {

base::Value document(const core::EnvPlan& plan) {
  base::Value::Object object;
  for (const auto& [name, value] : plan.changes) object.emplace_back(name, value ? base::Value(*value) : base::Value());
  return object;
}

Result<void> append(std::string_view file, std::string_view text) {
  const base::Path path(file);
  const base::Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return fail(base::file_error("write", path, errno));
  return base::write_all(fd, text, path);
}

// Later steps of a GitHub Actions job read these two files: variables, and directories that come first on PATH.
Result<void> append_for_github(App& app, const store::Selected& chosen, const core::EnvPlan& plan) {
  const std::string_view variables = app.environment.value("GITHUB_ENV");
  const std::string_view path = app.environment.value("GITHUB_PATH");
  if (variables.empty() || path.empty())
    return fail(ErrorKind::usage, "GITHUB_ENV and GITHUB_PATH are not set: this is no step of a GitHub workflow",
                "cudaenv env --format dotenv");
  CUDAENV_CHECK(append(variables, shell::render_github(plan)));
  if (chosen.is_toolkit()) return append(path, (chosen.directory / "bin").native() + "\n");
  const auto is_path = [](const auto& change) { return change.first == "PATH"; };
  if (std::any_of(plan.changes.begin(), plan.changes.end(), is_path))
    app.output.warning("a toolkit stays on the PATH of the steps to come: GITHUB_PATH takes nothing back");
  return {};
}

// For an administrator, who prints it in an environment of his own and for those of others.
Result<std::string> modulefile(App& app, const store::Selected& chosen, const Passage& passage) {
  if (!chosen.is_toolkit())
    return fail(ErrorKind::usage, "a modulefile is for a toolkit, and none is selected",
                "cudaenv env VERSION --format modulefile");
  CUDAENV_TRY(plan, plan_activation(app, chosen, passage, core::unknown_environment()));
  return shell::render_modulefile(chosen.name, plan);
}

Passage passage_of(const EnvOptions& options) {
  if (!options.spec) return {};
  const std::string form = options.format.empty() ? "" : " --format " + options.format;
  return {.overriding = fmt::format("CUDAENV_GATE=off cudaenv env {}{}", *options.spec, form),
          .instead = "cudaenv env VERSION" + form};
}

}  // namespace

Result<ExitCode> run(const EnvOptions& options, App& app) {
  CUDAENV_TRY(shell, parse_shell(options.shell.empty() ? "bash" : options.shell, "cudaenv env --shell bash"));
  if (options.hook) return print_switch(app, shell);
  constexpr std::string_view k_forms[] = {"", "sh", "dotenv", "json", "github", "modulefile"};
  if (std::find(std::begin(k_forms), std::end(k_forms), options.format) == std::end(k_forms))
    return fail(ErrorKind::usage, fmt::format("there is no format \"{}\"", base::escaped(options.format)),
                "cudaenv env --format dotenv", {"known: sh, dotenv, json, github, modulefile"});
  CUDAENV_TRY(chosen, selected_or_error(app, options.spec));
  if (options.format == "modulefile") {
    CUDAENV_TRY(text, modulefile(app, chosen, passage_of(options)));
    app.output.data(text);
    return ExitCode::done;
  }
  CUDAENV_TRY(plan, plan_activation(app, chosen, passage_of(options)));
  if (options.format == "dotenv")
    app.output.data(shell::render_dotenv(plan));
  else if (options.format == "json")
    app.output.json(document(plan));
  else if (options.format == "github")
    CUDAENV_CHECK(append_for_github(app, chosen, plan));
  else
    app.output.data(shell::render(shell, plan));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
