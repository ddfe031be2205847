// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "commands/judged.hpp"
#include "commands/machine_text.hpp"
#include "commands/refusal.hpp"
#include "commands/run.hpp"
#include "core/described_machine.hpp"
#include "core/release_choice.hpp"
#include "core/version_text.hpp"
#include "store/exemptions.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using base::Value;
using core::Verdict;

// One line of the answer.
struct Checked {
  std::string name;  // "12.8.1"
  core::ToolkitFacts toolkit;
  bool is_installed = false;
  bool is_selected = false;
  bool is_exempt = false;  // where it is selected
  core::Assessment assessment = {};
  core::Suggestion suggestion = {};
};

bool describes_machine(const CheckOptions& options) { return options.driver || !options.gpus.empty(); }

Result<core::MachineFacts> machine_of(const CheckOptions& options, App& app) {
  if (!describes_machine(options)) {
    CUDAENV_TRY(machine, app.machine.facts(Asking::anew));
    return *machine;
  }
  core::MachineDescription description;
  description.driver = options.driver;
  if (!options.gpus.empty()) description.gpus = options.gpus;
  return core::describe_machine(description, app.facts.registry());
}

// What a spec stands for: among those installed, else of what was released.
Result<Checked> to_check(const std::string& typed, App& app, const core::MachineFacts& machine) {
  CUDAENV_TRY(spec, parse_typed_spec(typed));
  if (spec.kind == core::SpecKind::system)
    return fail(ErrorKind::usage, "\"system\" is no toolkit that can be checked", "cudaenv check");
  if (spec.kind == core::SpecKind::automatic) {
    const core::Suggestion fits = core::newest_fits(app.facts.registry(), machine);
    const auto release = fits.best ? fits.best : fits.release;
    if (release) return Checked{core::to_text(*release), toolkit_facts(*release)};
    return fail(ErrorKind::not_found, "no release that cudaenv knows runs on that machine", "cudaenv check latest");
  }
  const store::Selected chosen = store::select_spec(app.roots, spec);
  if (chosen.is_toolkit())
    return Checked{chosen.name, toolkit_facts(app, chosen.name, chosen.directory, machine), true};
  if (spec.kind == core::SpecKind::name) return fail(explained(app, spec, *chosen.problem));
  if (auto mistake = core::mistaken_number(spec, app.facts.registry())) return fail(std::move(*mistake));
  const auto release = core::newest_known(spec, app.facts.registry());
  if (release) return Checked{core::to_text(*release), toolkit_facts(*release)};
  // Newer than the tables: what its number says is still true.
  app.output.note(fmt::format("CUDA {} is not known here; it is judged by its number", spec.text));
  if (spec.given >= 2) return Checked{core::to_text(spec.version), toolkit_facts(spec.version)};
  return fail(ErrorKind::not_found, fmt::format("no release of CUDA {} is known", spec.text), "cudaenv install --list");
}

std::vector<Checked> newest_of_each_minor(const core::Registry& registry) {
  std::vector<Checked> list;
  std::optional<core::Version> last;
  for (const core::ReleaseRow& row : registry.releases) {
    if (row.is_preview || !row.has_archives) continue;
    if (last && core::minor_of(*last) == core::minor_of(row.release)) list.pop_back();
    list.push_back({core::to_text(row.release), toolkit_facts(row.release)});
    last = row.release;
  }
  return list;
}

Result<std::vector<Checked>> all_to_check(const CheckOptions& options, App& app, const core::MachineFacts& machine) {
  std::vector<Checked> list;
  for (const std::string& typed : options.specs) {
    CUDAENV_TRY(checked, to_check(typed, app, machine));
    list.push_back(std::move(checked));
  }
  if (options.specs.empty()) {
    CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
    for (const store::Toolkit& toolkit : toolkits)
      list.push_back({toolkit.name, toolkit_facts(app, toolkit.name, toolkit.directory, machine), true});
    if (list.empty()) {
      list = newest_of_each_minor(app.facts.registry());
      app.output.note("no toolkit is installed; these are the releases that could be");
    }
  }
  const store::Selected current = store::current_selection(app.roots);
  const auto exemptions = store::load_exemptions(app.roots);
  for (Checked& checked : list) {
    checked.is_selected = checked.is_installed && current.is_toolkit() && current.name == checked.name;
    checked.is_exempt = checked.is_selected && exemptions && store::is_exempt(*exemptions, current);
    checked.assessment = core::check(app.facts.registry(), checked.toolkit, machine);
    if (checked.assessment.verdict == Verdict::refused)
      checked.suggestion = core::suggest(app.facts.registry(), checked.toolkit, machine);
  }
  return list;
}

// --- A table ---

// Of one that was asked about alone all that there is to say; of many the reasons in few words, without what the lines
// above the table say of the machine.
std::vector<std::string> lines_of(const Checked& checked, bool is_only_one) {
  std::vector<std::string> lines;
  for (const core::Reason& reason : checked.assessment.reasons) {
    const bool is_of_machine =
        reason.kind == core::ReasonKind::driver_unknown || reason.kind == core::ReasonKind::gpu_unknown;
    if (is_only_one) {
      lines.push_back(reason.text);
      if (!reason.cure.empty()) lines.push_back("  " + reason.cure);
    } else if (!is_of_machine) {
      lines.push_back(reason.brief);
    }
  }
  if (checked.is_exempt) lines.push_back("let pass here, by --force");
  return lines;
}

void print(App& app, const std::vector<Checked>& list, const core::MachineFacts& machine) {
  app.output.data(driver_line(machine) + "\n");
  for (const std::string& line : gpu_lines(machine)) app.output.data(line + "\n");
  for (const std::string& note : machine.notes)
    if (note != machine.gpu_reason) app.output.data(note + "\n");
  if (list.empty()) return;
  std::size_t width = 0;
  for (const Checked& checked : list) width = std::max(width, checked.name.size());
  std::string text = "\n";
  for (const Checked& checked : list) {
    const std::string start = fmt::format("{} {:<{}}  ", checked.is_selected ? '*' : ' ', checked.name, width);
    const std::vector<std::string> lines = lines_of(checked, list.size() == 1);
    const std::string_view verdict = core::to_text(checked.assessment.verdict);
    if (lines.empty()) text += fmt::format("{}{}\n", start, verdict);
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += fmt::format("{:{}}{:<8} {}\n", i == 0 ? start : "", start.size(), i == 0 ? verdict : "",
                          base::escaped(lines[i]));
  }
  const std::string fits = in_words(core::newest_fits(app.facts.registry(), machine));
  if (machine.cuda && !fits.empty()) text += fmt::format("\nnewest release that runs there, {}\n", fits);
  app.output.data(text);
}

// --- JSON ---

Value or_null(const std::optional<core::Version>& release) {
  return release ? Value(core::to_text(*release)) : Value();
}

Value document(const core::Reason& reason, const core::MachineFacts& machine) {
  Value::Array gpus;
  for (const std::uint32_t position : reason.gpus) gpus.emplace_back(static_cast<int>(machine.gpus[position].index));
  return Value::Object{
      {"kind", core::to_text(reason.kind)},
      {"verdict", core::to_text(reason.verdict)},
      {"text", reason.text},
      {"cure", reason.cure.empty() ? Value() : Value(reason.cure)},
      {"gpus", std::move(gpus)},
      {"architecture", reason.architecture == 0 ? Value() : Value(static_cast<int>(reason.architecture))},
      {"source", reason.source.empty() ? Value() : Value(reason.source)}};
}

Value document(App& app, const std::vector<Checked>& list, const core::MachineFacts& machine) {
  Value::Array toolkits;
  for (const Checked& checked : list) {
    Value::Array reasons;
    for (const core::Reason& reason : checked.assessment.reasons) reasons.push_back(document(reason, machine));
    toolkits.emplace_back(Value::Object{{"name", checked.name},
                                        {"release", or_null(checked.toolkit.release)},
                                        {"installed", checked.is_installed},
                                        {"selected", checked.is_selected},
                                        {"verdict", core::to_text(checked.assessment.verdict)},
                                        {"exempt", checked.is_exempt},
                                        {"reasons", std::move(reasons)},
                                        {"suggested", or_null(checked.suggestion.release)},
                                        {"suggested_in_full", or_null(checked.suggestion.best)}});
  }
  const core::Suggestion fits = core::newest_fits(app.facts.registry(), machine);
  return Value::Object{{"machine", commands::document(machine)},
                       {"toolkits", std::move(toolkits)},
                       {"newest_in_full", or_null(fits.best)},
                       {"newest", or_null(fits.release)}};
}

}  // namespace

Result<ExitCode> run(const CheckOptions& options, App& app) {
  CUDAENV_TRY(machine, machine_of(options, app));
  CUDAENV_TRY(list, all_to_check(options, app, machine));
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  CUDAENV_TRY(settings, settings_for(app, chosen));
  app.machine.save_decisions();
  if (options.json)
    app.output.json(document(app, list, machine));
  else
    print(app, list, machine);
  const bool is_refused = std::any_of(list.begin(), list.end(), [&settings = settings](const Checked& checked) {
    return is_objection(checked.assessment.verdict, settings);
  });
  // Of a list of all there is, a refused one is no news to fail for.
  return is_refused && !options.specs.empty() ? ExitCode::refused : ExitCode::done;
}

}  // namespace cudaenv::commands
