// SPDX-License-Identifier: Apache-2.0
#include "commands/judged.hpp"

#include <fmt/format.h>

#include "commands/toolkit_release.hpp"
#include "core/version_text.hpp"

namespace cudaenv::commands {
namespace {

bool has_visible_gpus(const core::MachineFacts& machine) {
  for (const core::Gpu& gpu : machine.gpus)
    if (gpu.is_visible && gpu.capability) return true;
  return false;
}

}  // namespace

core::ToolkitFacts toolkit_facts(App& app, const std::string& name, const base::Path& directory,
                                 const core::MachineFacts& machine) {
  core::ToolkitFacts facts;
  facts.release = core::parse_version(name);
  if (facts.release) {
    facts.name = "CUDA " + name;
  } else {
    facts.release = release_in(directory, app.facts.registry());
    facts.name = facts.release ? fmt::format("toolkit {} (CUDA {})", name, core::to_text(*facts.release))
                               : fmt::format("toolkit {}", name);
  }
  if (has_visible_gpus(machine)) facts.architectures = app.machine.architectures(directory);
  return facts;
}

core::ToolkitFacts toolkit_facts(const core::Version& release) {
  return {"CUDA " + core::to_text(release), release, {}};
}

bool is_objection(core::Verdict verdict, const store::Settings& settings) {
  return verdict == core::Verdict::refused || (verdict == core::Verdict::limited && settings.refuses_limited());
}

Result<std::vector<Judged>> passing_toolkits(App& app, const core::MachineFacts& machine,
                                             const store::Settings& settings) {
  std::vector<Judged> passing;
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  for (const store::Toolkit& toolkit : toolkits) {
    if (!toolkit.release) continue;
    const core::ToolkitFacts facts = toolkit_facts(app, toolkit.name, toolkit.directory, machine);
    const core::Verdict verdict = core::check(app.facts.registry(), facts, machine).verdict;
    if (!is_objection(verdict, settings)) passing.push_back({toolkit, verdict});
  }
  return passing;
}

const Judged* best_of(const std::vector<Judged>& judged) {
  const Judged* best = nullptr;
  for (const Judged& one : judged)
    if (!best || one.verdict <= best->verdict) best = &one;
  return best;
}

}  // namespace cudaenv::commands
