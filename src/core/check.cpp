// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/check_rules.hpp"
#include "core/check_words.hpp"

namespace cudaenv::core {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 4> k_verdict_names{{
    {Verdict::ok, "ok"},
    {Verdict::unknown, "unknown"},
    {Verdict::limited, "limited"},
    {Verdict::refused, "refused"},
}};

constexpr std::array<std::pair<ReasonKind, std::string_view>, 12> k_kind_names{{
    {ReasonKind::driver_unknown, "driver-unknown"},
    {ReasonKind::driver_newer_than_us, "driver-newer-than-us"},
    {ReasonKind::driver_too_old, "driver-too-old"},
    {ReasonKind::driver_below_minimum, "driver-below-minimum"},
    {ReasonKind::toolkit_newer, "toolkit-newer"},
    {ReasonKind::gpu_unknown, "gpu-unknown"},
    {ReasonKind::toolkit_unknown, "toolkit-unknown"},
    {ReasonKind::gpu_dropped, "gpu-dropped"},
    {ReasonKind::gpu_too_new, "gpu-too-new"},
    {ReasonKind::gpu_not_driven, "gpu-not-driven"},
    {ReasonKind::gpu_lower_minor, "gpu-lower-minor"},
    {ReasonKind::gpu_deprecated, "gpu-deprecated"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value wanted) {
  for (const auto& [value, name] : names)
    if (value == wanted) return name;
  return {};
}

Verdict verdict_of(const Registry& registry, Version release, const MachineFacts& machine) {
  const ToolkitFacts toolkit{.name = {}, .release = release, .architectures = {}};
  return worst_of(judge(CheckCase(registry, toolkit, machine)));
}

// The release that stands for its minor: the newest update, of those that can be installed if there are any.
struct Candidate {
  Version release;
  bool is_installable;
  Verdict verdict;
};

std::vector<Candidate> candidates_of(const Registry& registry, const MachineFacts& machine) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < registry.releases.size();) {
    const Version first = registry.releases[i].release;
    const auto updates = releases_of(registry, first.major, first.minor);
    i += updates.size();
    const ReleaseRow* row = newest_release(updates, Among::installable);
    if (!row) row = newest_release(updates, Among::all);
    if (!row) continue;
    candidates.push_back({row->release, row->has_archives, verdict_of(registry, row->release, machine)});
  }
  return candidates;
}

enum class End { newest, oldest };

// The one at that end which fits; one that can be installed before any other.
template <class Fits>
std::optional<Version> pick(const std::vector<Candidate>& oldest_first, End end, Fits fits) {
  for (const bool is_installable : {true, false}) {
    const auto counts = [&](const Candidate& it) { return it.is_installable == is_installable && fits(it); };
    const auto oldest = std::find_if(oldest_first.begin(), oldest_first.end(), counts);
    if (oldest == oldest_first.end()) continue;
    if (end == End::oldest) return oldest->release;
    return std::find_if(oldest_first.rbegin(), oldest_first.rend(), counts)->release;
  }
  return std::nullopt;
}

std::optional<Version> best_of(const std::vector<Candidate>& candidates) {
  for (const Verdict wanted : {Verdict::ok, Verdict::unknown})
    if (auto best = pick(candidates, End::newest, [&](const Candidate& it) { return it.verdict == wanted; }))
      return best;
  return std::nullopt;
}

bool is_too_new(const Reason& reason) {
  return reason.verdict == Verdict::refused &&
         (reason.kind == ReasonKind::driver_too_old || reason.kind == ReasonKind::driver_below_minimum ||
          reason.kind == ReasonKind::gpu_dropped);
}

std::optional<Version> nearest(const std::vector<Candidate>& candidates, const ToolkitFacts& toolkit,
                               const std::vector<Reason>& reasons) {
  const auto is_allowed = [](const Candidate& it) { return it.verdict != Verdict::refused; };
  if (!toolkit.release) return pick(candidates, End::newest, is_allowed);
  const auto below = pick(candidates, End::newest,
                          [&](const Candidate& it) { return is_allowed(it) && it.release < *toolkit.release; });
  const auto above = pick(candidates, End::oldest,
                          [&](const Candidate& it) { return is_allowed(it) && it.release > *toolkit.release; });
  const bool wants_older = std::any_of(reasons.begin(), reasons.end(), is_too_new);
  return wants_older ? (below ? below : above) : (above ? above : below);
}

}  // namespace

Assessment check(const Registry& registry, const ToolkitFacts& toolkit, const MachineFacts& machine) {
  const CheckCase question(registry, toolkit, machine);
  Assessment assessment{.verdict = Verdict::ok, .reasons = judge(question)};
  assessment.verdict = worst_of(assessment.reasons);
  for (Reason& reason : assessment.reasons) {
    put_driver_words(question, reason);
    put_gpu_words(question, reason);
    if (reason.brief.empty()) reason.brief = reason.text.substr(0, reason.text.find(": not checked"));
  }
  std::stable_sort(assessment.reasons.begin(), assessment.reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.verdict > b.verdict; });
  return assessment;
}

Suggestion suggest(const Registry& registry, const ToolkitFacts& toolkit, const MachineFacts& machine) {
  Suggestion suggestion;
  const std::vector<Candidate> candidates = candidates_of(registry, machine);
  const std::vector<Reason> reasons = judge(CheckCase(registry, toolkit, machine));
  if (worst_of(reasons) == Verdict::refused) suggestion.release = nearest(candidates, toolkit, reasons);
  suggestion.best = best_of(candidates);
  return suggestion;
}

Suggestion newest_fits(const Registry& registry, const MachineFacts& machine) {
  const std::vector<Candidate> candidates = candidates_of(registry, machine);
  return {pick(candidates, End::newest, [](const Candidate& it) { return it.verdict != Verdict::refused; }),
          best_of(candidates)};
}

std::optional<Version> newest_fit(const Registry& registry, const std::vector<Version>& releases,
                                  const MachineFacts& machine) {
  // Verdicts are ordered from good to bad, so the least pair with the verdict first is the answer.
  std::optional<std::pair<Verdict, Version>> found;
  for (const Version& release : releases) {
    const Verdict verdict = verdict_of(registry, release, machine);
    if (verdict == Verdict::refused) continue;
    if (!found || verdict < found->first || (verdict == found->first && release > found->second))
      found = {verdict, release};
  }
  if (!found) return std::nullopt;
  return found->second;
}

std::string_view to_text(Verdict verdict) { return name_in(k_verdict_names, verdict); }
std::string_view to_text(ReasonKind kind) { return name_in(k_kind_names, kind); }

}  // namespace cudaenv::core
