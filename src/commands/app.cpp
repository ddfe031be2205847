// SPDX-License-Identifier: Apache-2.0
#include "commands/app.hpp"

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "core/release_choice.hpp"
#include "store/library_shims.hpp"
#include "store/shims.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {

Result<core::Spec> parse_typed_spec(std::string_view text) {
  if (const auto spec = core::parse_spec(text)) return *spec;
  return fail(ErrorKind::config, fmt::format("\"{}\" is not a version", base::escaped(text.substr(0, 80))),
              "cudaenv versions", {fmt::format("expected {}", core::k_spec_expected)});
}

Result<store::Selected> selected(App& app, const std::optional<std::string>& typed) {
  if (!typed) {
    store::Selected current = store::current_selection(app.roots);
    for (const std::string& warning : current.warnings) app.output.warning(warning);
    if (current.status == core::SelectionStatus::not_installed)
      if (const auto spec = core::parse_spec(current.word))
        current.problem = explained(app, *spec, std::move(*current.problem));
    CUDAENV_CHECK(choose_automatic(app, current));
    return current;
  }
  CUDAENV_TRY(spec, parse_typed_spec(*typed));
  store::Selected chosen = store::select_spec(app.roots, spec);
  if (chosen.problem) chosen.problem = explained(app, spec, std::move(*chosen.problem));
  CUDAENV_CHECK(choose_automatic(app, chosen));
  return chosen;
}

Result<store::Selected> selected_or_error(App& app, const std::optional<std::string>& typed) {
  CUDAENV_TRY(chosen, selected(app, typed));
  if (chosen.problem) return fail(std::move(*chosen.problem));
  return std::move(chosen);
}

Result<store::Settings> settings_for(App& app, const store::Selected& selected) {
  std::optional<base::Path> project;
  if (selected.origin == core::OriginKind::project_file) project = base::Path(selected.origin_path).parent_path();
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, project));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  return std::move(settings);
}

Error explained(App& app, const core::Spec& spec, Error error) {
  if (spec.kind == core::SpecKind::name) {
    // A misspelt word reads as the name of a toolkit that is not there.
    std::vector<std::string_view> words = {"latest", "system", "auto"};
    const auto toolkits = store::installed_toolkits(app.roots);
    if (toolkits)
      for (const store::Toolkit& toolkit : *toolkits) words.push_back(toolkit.name);
    if (const auto near = base::did_you_mean(spec.text, words); !near.empty()) {
      error.details.push_back(fmt::format("did you mean {}?", base::join(near, " or ")));
      error.hint.clear();
    }
    return error;
  }
  auto mistake = core::mistaken_number(spec, app.facts.registry());
  if (!mistake) return error;
  mistake->kind = error.kind;
  mistake->details.insert(mistake->details.begin(), error.message);
  return std::move(*mistake);
}

Result<void> refresh_shims(App& app) {
  CUDAENV_TRY(changes, store::rebuild_shims(app.roots, app.shim_program, app.main_program));
  for (const std::string& name : changes.added) app.output.detail(fmt::format("shim added: {}", name));
  for (const std::string& name : changes.removed) app.output.detail(fmt::format("shim removed: {}", name));
  const base::Path host(app.environment.value(env_names::k_host_root));
  CUDAENV_TRY(libraries, store::rebuild_library_shims(app.roots, app.library_shim_template, host));
  for (const std::string& warning : libraries.warnings) app.output.warning(warning);
  for (const std::string& name : libraries.written) app.output.detail(fmt::format("library shim written: {}", name));
  for (const std::string& name : libraries.removed) app.output.detail(fmt::format("library shim removed: {}", name));
  return {};
}

Error stale_shims(Error error) {
  error.hint = "cudaenv rehash";
  return std::move(error).during("the shims are not up to date");
}

}  // namespace cudaenv::commands
