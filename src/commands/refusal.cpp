// SPDX-License-Identifier: Apache-2.0
#include "commands/refusal.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/judged.hpp"
#include "commands/machine_text.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {
namespace {

using core::ReasonKind;

std::string headline(const Refused& refused) {
  const std::string& name = refused.toolkit.name;
  if (refused.assessment.verdict == core::Verdict::limited)
    return fmt::format("{} is refused: it would run with limits only, and gate.limited is \"refuse\" ({})", name,
                       base::escaped(refused.settings["gate.limited"].set_by));
  switch (refused.assessment.reasons.front().kind) {
    case ReasonKind::driver_too_old:
    case ReasonKind::driver_below_minimum:
      if (refused.assessment.reasons.front().cure.starts_with("reboot"))
        return fmt::format("{} is refused: the machine has to be rebooted first", name);
      return fmt::format("{} is refused: the driver of this machine is too old for it", name);
    case ReasonKind::gpu_dropped: return fmt::format("{} is refused: it is too new for the GPUs of this machine", name);
    case ReasonKind::gpu_too_new: return fmt::format("{} is refused: it is too old for the GPUs of this machine", name);
    case ReasonKind::gpu_not_driven:
      return fmt::format("{} is refused: the driver of this machine does not drive its GPUs", name);
    default: return fmt::format("{} is refused on this machine", name);
  }
}

// What the judgement rests on, where that is not plain to see.
void add_circumstances(const Refused& refused, Error& error) {
  const core::MachineFacts& machine = refused.machine;
  for (const std::string& note : machine.notes) error.details.push_back(note);
  const bool has_hidden = std::any_of(machine.gpus.begin(), machine.gpus.end(), [](const core::Gpu& gpu) {
    return !gpu.is_visible && !is_without_instance(gpu);
  });
  if (has_hidden && machine.visible_devices)
    error.details.push_back(fmt::format("CUDA_VISIBLE_DEVICES={} hides the other GPUs of this machine",
                                        base::escaped(*machine.visible_devices)));
  if (machine.is_described)
    error.details.push_back(fmt::format("judged by {} and {}, not by this machine's own driver and GPUs",
                                        env_names::k_override_driver, env_names::k_override_gpus));
  if (!refused.selected.origin_path.empty())
    error.details.push_back(fmt::format("it is {}", base::escaped(refused.selected.origin_text())));
}

std::string in_words(const std::vector<Judged>& passing) {
  std::vector<std::string> full;
  std::vector<std::string> limited;
  for (const Judged& one : passing)
    (one.verdict == core::Verdict::limited ? limited : full).push_back(one.toolkit.name);
  std::string text = base::join(full, ", ");
  if (!limited.empty()) text += fmt::format("{}with limits: {}", full.empty() ? "" : "; ", base::join(limited, ", "));
  return text;
}

// Nothing is sure of a driver that says so little.
core::Suggestion suggestion_for(App& app, const Refused& refused) {
  if (!refused.machine.cuda) return {};
  core::Suggestion suggestion = core::suggest(app.facts.registry(), refused.toolkit, refused.machine);
  if (refused.settings.refuses_limited()) suggestion.release = suggestion.best;
  return suggestion;
}

bool can_be_installed(App& app, const std::optional<core::Version>& release) {
  const core::ReleaseRow* row = release ? core::find_release(app.facts.registry(), *release) : nullptr;
  return row && row->has_archives;
}

// What to type to select another toolkit in the place of the refused one.
std::string selecting(const Refused& refused, const std::string& name) {
  constexpr std::string_view k_place = "VERSION";
  const std::string& instead = refused.passage.instead;
  if (const std::size_t at = instead.find(k_place); at != std::string::npos)
    return std::string(instead).replace(at, k_place.size(), name);
  if (refused.selected.origin == core::OriginKind::variable) return fmt::format("export CUDAENV_VERSION={}", name);
  if (refused.selected.origin == core::OriginKind::global_file) return fmt::format("cudaenv global {}", name);
  return fmt::format("cudaenv local {}", name);
}

// What to type to have the refused one all the same.
std::string overriding(const App& app, const Refused& refused) {
  const store::Selected& selected = refused.selected;
  if (!refused.passage.overriding.empty()) return refused.passage.overriding;
  if (selected.origin == core::OriginKind::global_file) return fmt::format("cudaenv global {} --force", selected.word);
  if (selected.origin != core::OriginKind::project_file) return "export CUDAENV_GATE=off";
  const base::Path directory = base::Path(selected.origin_path).parent_path();
  std::string command = fmt::format("cudaenv local {} --force", selected.word);
  const auto here = base::working_directory(app.environment);
  if (here && *here == directory) return command;
  return fmt::format("(cd {} && {})", base::escaped(shell::word(directory.native())), command);
}

std::string hint(App& app, const Refused& refused, const Judged* best, const core::Suggestion& suggestion) {
  if (best) return selecting(refused, best->toolkit.name);
  const auto release = suggestion.best ? suggestion.best : suggestion.release;
  if (!can_be_installed(app, release)) return "cudaenv info";
  const std::string name = core::to_text(*release);
  return fmt::format("cudaenv install {} && {}", name, selecting(refused, name));
}

}  // namespace

std::string in_words(const core::Suggestion& suggestion) {
  std::string text;
  if (suggestion.best) text = "in full: " + core::to_text(*suggestion.best);
  if (suggestion.release && suggestion.release != suggestion.best)
    text += fmt::format("{}with limits: {}", text.empty() ? "" : "; ", core::to_text(*suggestion.release));
  return text;
}

Error refusal(App& app, const Refused& refused) {
  Error error{ErrorKind::incompatible, headline(refused)};
  for (const core::Reason& reason : refused.assessment.reasons) {
    if (reason.verdict != refused.assessment.verdict) continue;  // what would limit it is no matter now
    error.details.push_back(base::escaped(reason.text));
    if (!reason.cure.empty()) error.details.push_back(base::escaped("  " + reason.cure));
  }
  add_circumstances(refused, error);
  const auto passing = passing_toolkits(app, refused.machine, refused.settings);
  if (!passing) error.details.push_back(passing.error().message);
  if (passing && !passing->empty()) error.details.push_back("installed and runs here: " + in_words(*passing));
  const core::Suggestion suggestion = suggestion_for(app, refused);
  if (const std::string words = in_words(suggestion); !words.empty())
    error.details.push_back("newest release that runs here, " + words);
  error.details.push_back("to use it all the same: " + overriding(app, refused));
  error.hint = hint(app, refused, passing ? best_of(*passing) : nullptr, suggestion);
  app.machine.save_decisions();
  return error;
}

}  // namespace cudaenv::commands
