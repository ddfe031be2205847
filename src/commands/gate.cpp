// SPDX-License-Identifier: Apache-2.0
#include "commands/gate.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/refusal.hpp"
#include "commands/toolkit_release.hpp"
#include "core/problem_text.hpp"
#include "core/version_text.hpp"
#include "store/exemptions.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

std::string shown_name(std::string_view name) {
  core::MessageText text;
  core::append_toolkit(text, name);
  return std::string(text.view());
}

bool has_visible_gpus(const core::MachineFacts& machine) {
  for (const core::Gpu& gpu : machine.gpus)
    if (gpu.is_visible && gpu.capability) return true;
  return false;
}

bool is_exempt(App& app, const store::Selected& selected) {
  const auto exemptions = store::load_exemptions(app.roots);
  if (!exemptions) {
    app.output.warning(exemptions.error().message);
    return false;
  }
  return store::is_exempt(*exemptions, selected);
}

// What is to be done with a verdict, and what that rests on.
struct Decision {
  bool is_refused = false;
  store::Basis basis = store::Basis::facts_alone;
};

Decision decide(App& app, core::Verdict verdict, const store::Selected& selected, const store::Settings& settings) {
  if (verdict == core::Verdict::ok || verdict == core::Verdict::unknown) return {};
  const bool is_objection = verdict == core::Verdict::refused || settings.refuses_limited();
  if (!is_objection || settings.gate_mode() != store::GateMode::on) return {false, store::Basis::settings};
  if (is_exempt(app, selected)) return {false, store::Basis::exemption};
  return {true, store::Basis::facts_alone};
}

void tell(App& app, const core::Assessment& assessment, const std::string& name, const Decision& decision,
          Telling telling) {
  const std::string line = one_line(assessment);
  if (line.empty() || decision.basis == store::Basis::exemption) return;
  if (assessment.verdict == core::Verdict::unknown) {
    if (telling == Telling::all) app.output.note("the gate cannot tell: " + line);
  } else if (telling != Telling::refusals) {
    app.output.warning(
        assessment.verdict == core::Verdict::refused ? fmt::format("{} would be refused here: {}", name, line) : line);
  }
}

}  // namespace

core::ToolkitFacts toolkit_facts(App& app, const std::string& name, const base::Path& directory,
                                 const core::MachineFacts& machine) {
  core::ToolkitFacts facts{shown_name(name), core::parse_version(name), {}};
  if (!facts.release) facts.release = release_in(directory, app.facts.registry());
  if (has_visible_gpus(machine)) facts.architectures = app.machine.architectures(directory);
  return facts;
}

core::ToolkitFacts toolkit_facts(const core::Version& release) {
  return {shown_name(core::to_text(release)), release, {}};
}

std::string one_line(const core::Assessment& assessment) {
  for (const core::Reason& reason : assessment.reasons)
    if (reason.verdict == assessment.verdict)
      return base::escaped(reason.cure.empty() ? reason.text : fmt::format("{}; {}", reason.text, reason.cure));
  return {};
}

Result<void> pass_gate(App& app, const store::Selected& selected, const store::Settings& settings,
                       const Passage& passage) {
  if (!selected.is_toolkit()) return {};
  store::GateCache& decisions = app.machine.decisions();
  if (settings.gate_mode() == store::GateMode::off) {
    if (decisions.allows(selected)) return {};
    decisions.allow(selected, store::Basis::settings);
    app.machine.save_decisions();
    return {};
  }
  CUDAENV_TRY(machine, app.machine.facts(passage.asking));
  const core::ToolkitFacts toolkit = toolkit_facts(app, selected.name, selected.directory, *machine);
  const core::Assessment assessment = core::check(app.facts.registry(), toolkit, *machine);
  const Decision decision = decide(app, assessment.verdict, selected, settings);
  if (!decision.is_refused && !decisions.allows(selected)) decisions.allow(selected, decision.basis);
  app.machine.save_decisions();
  if (decision.is_refused)
    return fail(refusal(app, {selected, toolkit, assessment, *machine, passage.overriding, passage.instead}));
  tell(app, assessment, toolkit.name, decision, passage.telling);
  return {};
}

Result<void> choose_automatic(App& app, store::Selected& selected) {
  const auto spec = core::parse_spec(selected.word);
  if (!selected.is_toolkit() || !spec || spec->kind != core::SpecKind::automatic) return {};
  CUDAENV_TRY(machine, app.machine.facts(Asking::where_needed));
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  // The newest of those with the best verdict, as core::newest_fit chooses among releases.
  const store::Toolkit* fit = nullptr;
  core::Verdict best = core::Verdict::refused;
  for (const store::Toolkit& toolkit : toolkits) {
    if (!toolkit.release) continue;
    const core::ToolkitFacts facts = toolkit_facts(app, toolkit.name, toolkit.directory, *machine);
    const core::Verdict verdict = core::check(app.facts.registry(), facts, *machine).verdict;
    if (verdict == core::Verdict::refused || (fit && verdict > best)) continue;
    fit = &toolkit;
    best = verdict;
  }
  if (!fit) {
    selected.status = core::SelectionStatus::not_installed;
    selected.problem = Error{ErrorKind::not_installed,
                             "none of the installed toolkits runs on this machine",
                             "cudaenv install auto",
                             {"\"auto\" was " + base::escaped(selected.origin_text())}};
    return {};
  }
  selected.name = fit->name;
  selected.directory = fit->directory;
  app.machine.decisions().set_automatic(fit->directory);
  app.machine.save_decisions();
  return {};
}

}  // namespace cudaenv::commands
