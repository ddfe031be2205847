// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/gate.hpp"
#include "commands/judged.hpp"
#include "core/registry_lookup.hpp"

namespace cudaenv::commands {
namespace {

// Why there is none, by the newest that is installed; and what would help, if anything does.
Error none_fits(App& app, const store::Selected& selected, const core::MachineFacts& machine) {
  Error error{ErrorKind::not_installed, "none of the installed toolkits runs on this machine"};
  const core::ToolkitFacts newest = toolkit_facts(app, selected.name, selected.directory, machine);
  for (const core::Reason& reason : core::check(app.facts.registry(), newest, machine).reasons)
    if (reason.verdict == core::Verdict::refused || reason.verdict == core::Verdict::limited)
      error.details.push_back(base::escaped(reason.text));
  if (!selected.origin_path.empty())
    error.details.push_back(fmt::format("\"auto\" is {}", base::escaped(selected.origin_text())));
  const core::Suggestion fits = core::newest_fits(app.facts.registry(), machine);
  const core::ReleaseRow* row = fits.best ? core::find_release(app.facts.registry(), *fits.best) : nullptr;
  error.hint = row && row->has_archives ? "cudaenv install auto" : "cudaenv check";
  return error;
}

}  // namespace

Result<void> choose_automatic(App& app, store::Selected& selected) {
  const auto spec = core::parse_spec(selected.word);
  if (!selected.is_toolkit() || !spec || spec->kind != core::SpecKind::automatic) return {};
  CUDAENV_TRY(machine, app.machine.facts(Asking::where_needed));
  std::optional<base::Path> project;
  if (selected.origin == core::OriginKind::project_file) project = base::Path(selected.origin_path).parent_path();
  // Their warnings are told by whatever activates it.
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, project));
  CUDAENV_TRY(passing, passing_toolkits(app, *machine, settings));
  const Judged* fit = best_of(passing);
  if (!fit) {
    selected.status = core::SelectionStatus::not_installed;
    selected.problem = none_fits(app, selected, *machine);
    return {};
  }
  selected.name = fit->toolkit.name;
  selected.directory = fit->toolkit.directory;
  app.machine.decisions().set_automatic(fit->toolkit.directory);
  app.machine.save_decisions();
  return {};
}

}  // namespace cudaenv::commands
