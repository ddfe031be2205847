// SPDX-License-Identifier: Apache-2.0
#include "installer/plan_text.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/file_choice.hpp"

namespace cudaenv::installer {
namespace {

// How many times larger than its archive a component is, by what it holds. The GPU code of a library is compressed
// already, so little is gained (CUDA 13.0.2: libcufft's archive has 355 MB, its shared library alone 286 MB;
// libcusparse 278 and 163 MB, each with a static one of about that size); programs and headers shrink to a quarter
// (libnvrtc: 117 MB for two shared and two static libraries of 109 MB).
constexpr double k_factor_of_libraries = 2;
constexpr double k_factor_of_others = 4;

double factor_of(const core::PlannedComponent& planned) {
  const bool is_library =
      !planned.product.empty() || (planned.row && planned.row->component_class == core::ComponentClass::library);
  return is_library ? k_factor_of_libraries : k_factor_of_others;
}

// Bytes of the component's files in a toolkit of which this is the receipt; nothing if it is from another archive, or
// was not unpacked whole in the same way.
std::optional<std::uint64_t> unpacked_in(const store::Receipt& receipt, const core::PlannedComponent& planned,
                                         const core::FileChoice& choice) {
  const auto is_same = [&](const store::ReceiptComponent& component) {
    return component.name == planned.component->name && component.archive_sha256 == planned.archive.sha256;
  };
  if (std::none_of(receipt.components.begin(), receipt.components.end(), is_same)) return std::nullopt;
  if (core::FileChoice(receipt.without) != choice) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const store::ReceiptFile& file : receipt.files)
    if (file.component == planned.component->name) bytes += file.size;
  return bytes;
}

std::string about(std::uint64_t bytes, bool is_estimate) {
  return (is_estimate ? "about " : "") + base::human_size(bytes);
}

std::string download_text(const PlannedPart& part) {
  switch (part.origin) {
    case redist::ComponentOrigin::fetched: return base::human_size(part.archive);
    case redist::ComponentOrigin::kept: return "kept";
    case redist::ComponentOrigin::shared: return "shared";
  }
  return "";
}

std::string line(std::string_view name, std::string_view version, std::string_view download,
                 std::string_view unpacked) {
  return fmt::format("  {:<24} {:<14} {:>10}  {:>14}\n", name, version, download, unpacked);
}

template <class F>
std::uint64_t sum(const std::vector<PlannedPart>& parts, F of) {
  std::uint64_t bytes = 0;
  for (const PlannedPart& part : parts) bytes += of(part);
  return bytes;
}

}  // namespace

std::uint64_t PlanSummary::to_fetch() const {
  return sum(parts, [](const PlannedPart& part) {
    return part.origin == redist::ComponentOrigin::fetched ? part.archive : 0;
  });
}

std::uint64_t PlanSummary::unpacked() const {
  return sum(parts, [](const PlannedPart& part) {
    return part.origin != redist::ComponentOrigin::shared ? part.unpacked : 0;
  });
}

std::uint64_t PlanSummary::shared() const {
  return sum(parts, [](const PlannedPart& part) {
    return part.origin == redist::ComponentOrigin::shared ? part.unpacked : 0;
  });
}

bool PlanSummary::is_estimate() const {
  return std::any_of(parts.begin(), parts.end(), [](const PlannedPart& part) {
    return part.is_estimate && part.origin != redist::ComponentOrigin::shared;
  });
}

PlanSummary summarize(const core::ComponentPlan& plan, const std::vector<std::string>& without,
                      const std::vector<store::Receipt>& receipts,
                      const std::function<bool(const std::string&)>& is_kept) {
  const core::FileChoice choice(without);
  PlanSummary summary;
  for (const core::PlannedComponent& planned : plan.components) {
    PlannedPart part{planned.component->name, planned.component->version};
    part.archive = planned.archive.size;
    if (is_kept(planned.archive.sha256)) part.origin = redist::ComponentOrigin::kept;
    part.unpacked = static_cast<std::uint64_t>(static_cast<double>(part.archive) * factor_of(planned));
    for (const store::Receipt& receipt : receipts) {
      const auto bytes = unpacked_in(receipt, planned, choice);
      if (!bytes) continue;
      part.unpacked = *bytes;
      part.is_estimate = false;
      part.origin = redist::ComponentOrigin::shared;
      break;
    }
    summary.parts.push_back(std::move(part));
  }
  return summary;
}

std::string plan_text(const PlanSummary& summary, const base::Path& place, std::uint64_t free) {
  std::string text = line("", "", "download", "unpacked");
  for (const PlannedPart& part : summary.parts)
    text += line(part.name, base::escaped(part.version), download_text(part), about(part.unpacked, part.is_estimate));
  const std::string count = fmt::format("{} component{}", summary.parts.size(), summary.parts.size() == 1 ? "" : "s");
  text += line(count, "", base::human_size(summary.to_fetch()), about(summary.unpacked(), summary.is_estimate()));
  if (summary.shared() > 0)
    text += fmt::format("shared with toolkits that are installed: {}\n", base::human_size(summary.shared()));
  text += fmt::format("free in {}: {}{}\n", base::escaped(place.native()), base::human_size(free),
                      summary.unpacked() > free ? ", which is not enough" : "");
  return text;
}

}  // namespace cudaenv::installer
