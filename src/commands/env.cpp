// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "commands/activation.hpp"
#include "commands/run.hpp"
#include "commands/shells.hpp"
#include "commands/switch.hpp"
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

// Later steps of a GitHub Actions job read these two files; PATH entries go by the second one.
Result<void> append_for_github(App& app, const store::Selected& chosen, const core::EnvPlan& plan) {
  const std::string_view variables = app.environment.value("GITHUB_ENV");
  const std::string_view path = app.environment.value("GITHUB_PATH");
  if (variables.empty() || path.empty())
    return fail(ErrorKind::usage, "GITHUB_ENV and GITHUB_PATH are not set: this is no step of a GitHub workflow",
                "cudaenv env --format dotenv");
  std::string text;
  for (const auto& [name, value] : plan.changes)
    if (name != "PATH" && value && value->find('\n') == std::string::npos) text += name + "=" + *value + "\n";
  CUDAENV_CHECK(append(variables, text));
  if (chosen.is_toolkit()) CUDAENV_CHECK(append(path, (chosen.directory / "bin").native() + "\n"));
  return {};
}

Passage passage_of(const EnvOptions& options) {
  if (!options.spec) return {};
  return {.overriding = fmt::format("CUDAENV_GATE=off cudaenv env {}", *options.spec),
          .instead = "cudaenv env VERSION"};
}

}  // namespace

Result<ExitCode> run(const EnvOptions& options, App& app) {
  CUDAENV_TRY(shell, parse_shell(options.shell.empty() ? "bash" : options.shell, "cudaenv env --shell bash"));
  if (options.hook) return print_switch(app, shell);
  CUDAENV_TRY(chosen, selected_or_error(app, options.spec));
  CUDAENV_TRY(plan, plan_activation(app, chosen, passage_of(options)));
  if (options.format.empty() || options.format == "sh")
    app.output.data(shell::render(shell, plan));
  else if (options.format == "dotenv")
    app.output.data(shell::render_dotenv(plan));
  else if (options.format == "json")
    app.output.json(document(plan));
  else if (options.format == "github")
    CUDAENV_CHECK(append_for_github(app, chosen, plan));
  else
    return fail(ErrorKind::usage, fmt::format("there is no format \"{}\"", base::escaped(options.format)),
                "cudaenv env --format dotenv", {"known: sh, dotenv, json, github"});
  return ExitCode::done;
}

}  // namespace cudaenv::commands
