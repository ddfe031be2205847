// SPDX-License-Identifier: Apache-2.0
#include "commands/refusal.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "shell/quote.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using core::ReasonKind;

std::string headline(const Refused& refused) {
  const std::string& name = refused.toolkit.name;
  const core::Reason& worst = refused.assessment.reasons.front();
  if (refused.assessment.verdict == core::Verdict::limited)
    return fmt::format("{} is refused: it would run with limits only, and gate.limited is \"refuse\"", name);
  switch (worst.kind) {
    case ReasonKind::driver_too_old:
    case ReasonKind::driver_below_minimum:
      return fmt::format("{} is refused: the driver of this machine is too old for it", name);
    case ReasonKind::gpu_dropped: return fmt::format("{} is refused: it is too new for the GPUs of this machine", name);
    case ReasonKind::gpu_too_new: return fmt::format("{} is refused: it is too old for the GPUs of this machine", name);
    case ReasonKind::gpu_not_driven:
      return fmt::format("{} is refused: the driver of this machine does not drive its GPUs", name);
    default: return fmt::format("{} is refused on this machine", name);
  }
}

// The installed toolkits that would pass, oldest first.
struct Passing {
  std::vector<std::string> all;
  std::string best;  // the newest that is ok; else the newest at all
};

Passing installed_ones(App& app, const core::MachineFacts& machine) {
  Passing passing;
  const auto toolkits = store::installed_toolkits(app.roots);
  if (!toolkits) return passing;
  bool is_best_ok = false;
  for (const store::Toolkit& toolkit : *toolkits) {
    if (!toolkit.release) continue;
    const core::Verdict verdict =
        core::check(app.facts.registry(), toolkit_facts(app, toolkit.name, toolkit.directory, machine), machine)
            .verdict;
    if (verdict == core::Verdict::refused) continue;
    const bool is_ok = verdict != core::Verdict::limited;
    passing.all.push_back(is_ok ? toolkit.name : toolkit.name + " (with limits)");
    if (is_ok || !is_best_ok) passing.best = toolkit.name;
    is_best_ok = is_best_ok || is_ok;
  }
  return passing;
}

core::Suggestion suggestion_for(App& app, const Refused& refused) {
  if (!refused.machine.cuda) return {};  // of a driver that says so little, nothing is sure
  return core::suggest(app.facts.registry(), refused.toolkit, refused.machine);
}

bool can_be_installed(App& app, const std::optional<core::Version>& release) {
  const core::ReleaseRow* row = release ? core::find_release(app.facts.registry(), *release) : nullptr;
  return row && row->has_archives;
}

std::string in_words(const core::Suggestion& suggestion) {
  std::string text;
  if (suggestion.release) text = core::to_text(*suggestion.release);
  if (suggestion.best && suggestion.best != suggestion.release)
    text += fmt::format("{}{}", text.empty() ? "" : " with limits, in full ", core::to_text(*suggestion.best));
  return text;
}

// What to type to select another toolkit in the place of the refused one.
std::string selecting(const Refused& refused, const std::string& name) {
  const store::Selected& selected = refused.selected;
  constexpr std::string_view k_place = "VERSION";
  if (const std::size_t at = refused.instead.find(k_place); at != std::string::npos)
    return std::string(refused.instead).replace(at, k_place.size(), name);
  if (selected.origin == core::OriginKind::variable) return fmt::format("export CUDAENV_VERSION={}", name);
  if (selected.origin == core::OriginKind::global_file) return fmt::format("cudaenv global {}", name);
  return fmt::format("cudaenv local {}", name);
}

// What to type to have the refused one all the same.
std::string overriding(const App& app, const Refused& refused) {
  const store::Selected& selected = refused.selected;
  if (!refused.overriding.empty()) return refused.overriding;
  if (selected.origin == core::OriginKind::global_file) return fmt::format("cudaenv global {} --force", selected.word);
  if (selected.origin != core::OriginKind::project_file) return "CUDAENV_GATE=off in the environment";
  const base::Path directory = base::Path(selected.origin_path).parent_path();
  const std::string command = fmt::format("cudaenv local {} --force", selected.word);
  const auto here = base::working_directory(app.environment);
  if (here && *here == directory) return command;
  return fmt::format("(cd {} && {})", base::escaped(shell::word(directory.native())), command);
}

}  // namespace

Error refusal(App& app, const Refused& refused) {
  Error error{ErrorKind::incompatible, headline(refused)};
  for (const core::Reason& reason : refused.assessment.reasons) {
    // What would limit it is no matter where it is refused.
    if (reason.verdict != refused.assessment.verdict) continue;
    error.details.push_back(base::escaped(reason.text));
    if (!reason.cure.empty()) error.details.push_back(base::escaped("  " + reason.cure));
  }
  for (const std::string& note : refused.machine.notes) error.details.push_back(note);
  if (!refused.selected.origin_path.empty())
    error.details.push_back(fmt::format("it is {}", base::escaped(refused.selected.origin_text())));
  const Passing installed = installed_ones(app, refused.machine);
  if (!installed.all.empty()) error.details.push_back("installed and fit for it: " + base::join(installed.all, ", "));
  const core::Suggestion suggestion = suggestion_for(app, refused);
  if (const std::string words = in_words(suggestion); !words.empty())
    error.details.push_back("newest release that is fit for it: " + words);
  error.details.push_back("to use it all the same: " + overriding(app, refused));
  if (!installed.best.empty())
    error.hint = selecting(refused, installed.best);
  else if (const auto release = suggestion.best ? suggestion.best : suggestion.release; can_be_installed(app, release))
    error.hint =
        fmt::format("cudaenv install {0} && {1}", core::to_text(*release), selecting(refused, core::to_text(*release)));
  else
    error.hint = "cudaenv info";
  return error;
}

}  // namespace cudaenv::commands
