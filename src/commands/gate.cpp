// SPDX-License-Identifier: Apache-2.0
#include "commands/gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/judged.hpp"
#include "commands/refusal.hpp"
#include "store/exemptions.hpp"

namespace cudaenv::commands {
namespace {

using core::Verdict;

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

Decision decide(App& app, Verdict verdict, const store::Selected& selected, const store::Settings& settings) {
  if (verdict == Verdict::ok || verdict == Verdict::unknown) return {};
  if (!is_objection(verdict, settings) || settings.gate_mode() != store::GateMode::on)
    return {false, store::Basis::settings};
  if (is_exempt(app, selected)) return {false, store::Basis::exemption};
  return {true, store::Basis::facts_alone};
}

void keep(store::GateCache& decisions, const store::Selected& selected, const core::Assessment& assessment,
          const Decision& decision) {
  // One that is only warned of is asked about each time, by shims too, so that it is warned of.
  const bool is_warned_of = assessment.verdict == Verdict::refused && decision.basis == store::Basis::settings;
  if (decision.is_refused)
    decisions.refuse(selected, one_line(assessment));
  else if (is_warned_of)
    decisions.disallow(selected);
  else
    decisions.allow(selected, decision.basis);
}

void tell(App& app, const core::Assessment& assessment, const core::MachineFacts& machine, const Decision& decision,
          Telling telling) {
  const std::string line = one_line(assessment);
  bool is_told = line.empty();
  if (telling == Telling::all && assessment.verdict != Verdict::ok)
    for (const std::string& note : machine.notes) {
      app.output.warning(note);
      is_told = is_told || line.find(note) != std::string::npos;
    }
  if (is_told || decision.basis == store::Basis::exemption) return;
  switch (assessment.verdict) {
    case Verdict::ok: return;
    case Verdict::unknown:
      if (telling == Telling::all) app.output.note("not checked whether it runs here: " + line);
      return;
    case Verdict::limited:
      if (telling != Telling::refusals) app.output.warning(line);
      return;
    case Verdict::refused: app.output.warning(fmt::format("let pass by gate.mode: {}", line)); return;
  }
}

}  // namespace

std::string one_line(const core::Assessment& assessment) {
  std::string line;
  for (const core::Reason& reason : assessment.reasons) {
    if (reason.verdict != assessment.verdict || reason.verdict == Verdict::ok) continue;
    if (!line.empty())
      line += "; and " + reason.brief;
    else
      line = reason.cure.empty() ? reason.text : fmt::format("{}; {}", reason.text, reason.cure);
  }
  return base::escaped(line);
}

Result<Verdict> pass_gate(App& app, const store::Selected& selected, const store::Settings& settings,
                          const Passage& passage) {
  if (!selected.is_toolkit()) return Verdict::ok;
  store::GateCache& decisions = app.machine.decisions();
  if (settings.gate_mode() == store::GateMode::off) {
    decisions.allow(selected, store::Basis::settings);
    app.machine.save_decisions();
    return Verdict::ok;
  }
  Asking asking = passage.asking;
  while (true) {
    CUDAENV_TRY(machine, app.machine.facts(asking));
    const core::ToolkitFacts toolkit = toolkit_facts(app, selected.name, selected.directory, *machine);
    const core::Assessment assessment = core::check(app.facts.registry(), toolkit, *machine);
    const Decision decision = decide(app, assessment.verdict, selected, settings);
    // Nobody is refused by what was true some time ago.
    if (decision.is_refused && !app.machine.is_fresh()) {
      asking = Asking::anew;
      continue;
    }
    if (!app.machine.is_asked_in_background()) keep(decisions, selected, assessment, decision);
    app.machine.save_decisions();
    if (decision.is_refused) return fail(refusal(app, {selected, settings, toolkit, assessment, *machine, passage}));
    tell(app, assessment, *machine, decision, passage.telling);
    return assessment.verdict;
  }
}

Result<std::string> foretell(App& app, const core::ToolkitFacts& toolkit) {
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  if (settings.gate_mode() == store::GateMode::off || !toolkit.release) return std::string();
  const auto machine = app.machine.facts(Asking::where_needed);
  if (!machine && machine.error().kind == ErrorKind::interrupted) return fail(machine.error());
  if (!machine) {
    app.output.warning(machine.error().message);
    return std::string();
  }
  const core::Assessment assessment = core::check(app.facts.registry(), toolkit, **machine);
  if (assessment.verdict != Verdict::ok)
    app.output.note(fmt::format("on this machine {} is {}: {}", toolkit.name, core::to_text(assessment.verdict),
                                one_line(assessment)));
  const bool is_refused = is_objection(assessment.verdict, settings) && settings.gate_mode() == store::GateMode::on;
  return std::string(is_refused ? " --force" : "");
}

}  // namespace cudaenv::commands
