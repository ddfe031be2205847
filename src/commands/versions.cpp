// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using base::Value;

std::string_view text_of(core::OriginKind kind) {
  switch (kind) {
    case core::OriginKind::none: return "none";
    case core::OriginKind::argument: return "argument";
    case core::OriginKind::variable: return "variable";
    case core::OriginKind::project_file: return "project";
    case core::OriginKind::global_file: return "global";
    case core::OriginKind::shared_file: return "shared";
    case core::OriginKind::process: break;  // only library shims have that
  }
  return "none";
}

bool is_selected(const store::Toolkit& toolkit, const store::Selected& selected) {
  return selected.is_toolkit() && toolkit.name == selected.name && !toolkit.is_missing;
}

Value document(const std::vector<store::Toolkit>& toolkits, const store::Selected& selected) {
  Value::Array list;
  for (const store::Toolkit& toolkit : toolkits)
    list.emplace_back(
        Value::Object{{"name", toolkit.name},
                      {"release", toolkit.release ? Value(core::to_text(*toolkit.release)) : Value()},
                      {"directory", toolkit.directory.native()},
                      {"adopted_from", toolkit.adopted_from ? Value(toolkit.adopted_from->native()) : Value()},
                      {"shared", toolkit.is_shared},
                      {"missing", toolkit.is_missing},
                      {"selected", is_selected(toolkit, selected)}});
  Value::Object origin{{"kind", text_of(selected.origin)},
                       {"path", selected.origin_path.empty() ? Value() : Value(selected.origin_path)},
                       {"line", selected.origin_line == 0 ? Value() : Value(static_cast<int>(selected.origin_line))}};
  return Value::Object{{"versions", std::move(list)},
                       {"selected", Value::Object{{"spec", selected.word},
                                                  {"name", selected.is_toolkit() ? Value(selected.name) : Value()},
                                                  {"origin", std::move(origin)}}}};
}

}  // namespace

Result<ExitCode> run(const VersionsOptions& options, App& app) {
  CUDAENV_TRY(toolkits, store::registered_toolkits(app.roots));
  if (options.bare) {
    for (const store::Toolkit& toolkit : toolkits)
      if (!toolkit.is_missing) app.output.data(toolkit.name + "\n");
    return ExitCode::done;
  }
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  if (options.json) {
    app.output.json(document(toolkits, chosen));
    return ExitCode::done;
  }
  if (chosen.status == core::SelectionStatus::system)
    app.output.data(fmt::format("* system ({})\n", base::escaped(chosen.origin_text())));
  for (const store::Toolkit& toolkit : toolkits) {
    const bool is_starred = is_selected(toolkit, chosen);
    std::string line = fmt::format("{} {}", is_starred ? "*" : " ", toolkit.name);
    if (toolkit.adopted_from) line += " -> " + base::escaped(toolkit.adopted_from->native());
    if (toolkit.is_shared) line += " (shared)";
    if (toolkit.is_missing) line += " (missing)";
    if (is_starred) line += fmt::format(" ({})", base::escaped(chosen.origin_text()));
    app.output.data(line + "\n");
  }
  if (toolkits.empty()) app.output.note("no toolkit is installed; `cudaenv install --list` shows what there is");
  if (chosen.problem) app.output.warning(chosen.problem->message);
  return ExitCode::done;
}

}  // namespace cudaenv::commands
