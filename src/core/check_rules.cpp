// SPDX-License-Identifier: Apache-2.0
#include "core/check_rules.hpp"

#include <algorithm>
#include <utility>

namespace cudaenv::core {
namespace {

DriverNumbers numbers_of(const MachineFacts& machine) {
  return machine.host == HostKind::wsl ? DriverNumbers::of_windows : DriverNumbers::of_linux;
}

Reason unknown(ReasonKind kind) { return {.kind = kind, .verdict = Verdict::unknown}; }
Reason refused(ReasonKind kind) { return {.kind = kind, .verdict = Verdict::refused}; }

Reason toolkit_newer(const CheckCase& question) {
  Reason reason{.kind = ReasonKind::toolkit_newer, .verdict = Verdict::limited};
  const std::vector<std::uint16_t> codes = codes_to_build(question);
  if (!codes.empty() && !has_same_ptx(question)) reason.architecture = codes.back();
  return reason;
}

std::optional<Reason> judge_driver(const CheckCase& question) {
  const MachineFacts& machine = question.machine;
  if (machine.driver != DriverStatus::present) return unknown(ReasonKind::driver_unknown);
  if (!question.toolkit.release) return unknown(ReasonKind::toolkit_unknown);
  const Minor toolkit = minor_of(*question.toolkit.release);
  if (!machine.cuda)
    return is_below_minimum(question, toolkit.major) ? refused(ReasonKind::driver_too_old)
                                                     : unknown(ReasonKind::driver_unknown);
  if (toolkit <= *machine.cuda) return std::nullopt;
  if (machine.is_cuda_at_least)
    return is_below_minimum(question, toolkit.major) ? refused(ReasonKind::driver_too_old)
                                                     : unknown(ReasonKind::driver_newer_than_us);
  if (toolkit.major > machine.cuda->major) return refused(ReasonKind::driver_too_old);

  const MajorRow* major = find_major(question.registry, toolkit.major);
  if (!major) return unknown(ReasonKind::driver_unknown);
  if (!major->minor_version_compatible) return refused(ReasonKind::driver_too_old);
  if (is_below_minimum(question, toolkit.major)) return refused(ReasonKind::driver_below_minimum);
  return toolkit_newer(question);
}

// What a driver lists it drives, so the tables are asked only about machines that are described.
bool is_driven(const CheckCase& question, ComputeCapability gpu) {
  const ChipRow* chip = find_chip(question.registry, gpu);
  const std::uint32_t branch = kernel_branch(question);
  if (!question.machine.is_described || !chip || branch == 0) return true;
  if (chip->is_tegra || question.machine.host == HostKind::tegra) return true;
  return branch >= chip->first_driver_branch && (chip->last_driver_branch == 0 || branch <= chip->last_driver_branch);
}

// Whether an architecture that is not in the toolkit was in older ones, rather than being one of newer ones.
bool was_dropped(const CheckCase& question, ComputeCapability gpu) {
  const ToolkitRange range = toolkits_for(question.registry, gpu);
  if (range.newest && question.toolkit.release) {
    const Minor toolkit = minor_of(*question.toolkit.release);
    if (toolkit > Minor{range.newest->major, range.newest->minor}) return true;
    if (toolkit < Minor{range.oldest->major, range.oldest->minor}) return false;
  }
  return architecture_code(gpu) < question.codes.front();
}

bool is_deprecated(const CheckCase& question, std::uint16_t code) {
  if (!question.toolkit.release) return false;
  const auto* row = architectures_of(question.registry, *question.toolkit.release);
  return row && std::binary_search(row->deprecated.begin(), row->deprecated.end(), code);
}

struct GpuFinding {
  std::optional<ReasonKind> kind;  // nothing: all is well
  bool is_usable = true;
  std::uint16_t architecture = 0;
};

GpuFinding judge_gpu(const CheckCase& question, ComputeCapability gpu) {
  if (!is_driven(question, gpu)) return {.kind = ReasonKind::gpu_not_driven, .is_usable = false};
  if (question.codes.empty()) return {};
  const GpuFit fit = fit_of(question.registry, question.codes, gpu);
  if (fit.fit == Fit::lower_minor) return {.kind = ReasonKind::gpu_lower_minor, .architecture = fit.code};
  if (fit.fit == Fit::own) {
    if (is_deprecated(question, fit.code)) return {.kind = ReasonKind::gpu_deprecated};
    return {};
  }
  const ReasonKind kind = was_dropped(question, gpu) ? ReasonKind::gpu_dropped : ReasonKind::gpu_too_new;
  return {.kind = kind, .is_usable = false};
}

// Adds the GPU to the reason of its kind and capability, which is made if need be.
void add_gpu(const CheckCase& question, std::uint32_t position, Reason reason, std::vector<Reason>& reasons) {
  const auto capability = question.machine.gpus[position].capability;
  const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& other) {
    return other.kind == reason.kind && !other.gpus.empty() &&
           question.machine.gpus[other.gpus.front()].capability == capability;
  });
  Reason& mine = same != reasons.end() ? *same : reasons.emplace_back(std::move(reason));
  mine.gpus.push_back(position);
}

void judge_each_gpu(const CheckCase& question, std::vector<Reason>& reasons) {
  std::vector<std::pair<std::uint32_t, GpuFinding>> unusable;
  for (const std::uint32_t position : question.visible) {
    const auto& capability = question.machine.gpus[position].capability;
    if (!capability) {
      add_gpu(question, position, unknown(ReasonKind::gpu_unknown), reasons);
      continue;
    }
    const GpuFinding finding = judge_gpu(question, *capability);
    if (!finding.is_usable) unusable.emplace_back(position, finding);
    if (!finding.is_usable || !finding.kind) continue;
    const Verdict verdict = finding.kind == ReasonKind::gpu_deprecated ? Verdict::ok : Verdict::limited;
    add_gpu(question, position, {.kind = *finding.kind, .verdict = verdict, .architecture = finding.architecture},
            reasons);
  }
  const Verdict verdict = unusable.size() == question.visible.size() ? Verdict::refused : Verdict::limited;
  for (const auto& [position, finding] : unusable)
    add_gpu(question, position, {.kind = *finding.kind, .verdict = verdict}, reasons);
}

}  // namespace

CheckCase::CheckCase(const Registry& registry_in, const ToolkitFacts& toolkit_in, const MachineFacts& machine_in)
    : registry(registry_in), toolkit(toolkit_in), machine(machine_in), codes(toolkit_in.architectures) {
  if (codes.empty() && toolkit.release)
    if (const auto* row = architectures_of(registry, *toolkit.release))
      codes.assign(row->base.begin(), row->base.end());
  std::sort(codes.begin(), codes.end());
  for (std::uint32_t i = 0; i < machine.gpus.size(); ++i)
    if (machine.gpus[i].is_visible) visible.push_back(i);
  std::stable_sort(visible.begin(), visible.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return machine.gpus[a].index < machine.gpus[b].index; });
}

GpuFit fit_of(const Registry& registry, std::span<const std::uint16_t> codes, ComputeCapability gpu) {
  if (const std::uint16_t code = own_code(registry, codes, gpu); code != 0) return {Fit::own, code};
  const ChipRow* chip = find_chip(registry, gpu);
  if (chip && chip->is_tegra) return {};
  for (std::size_t i = codes.size(); i-- > 0;) {
    const ComputeCapability other = capability_of_code(codes[i]);
    const ChipRow* other_chip = find_chip(registry, other);
    if (other.major == gpu.major && other.minor < gpu.minor && !(other_chip && other_chip->is_tegra))
      return {Fit::lower_minor, codes[i]};
  }
  return {};
}

std::vector<std::uint16_t> codes_to_build(const CheckCase& question) {
  std::vector<std::uint16_t> wanted;
  if (question.machine.gpu_status != GpuStatus::known) return wanted;
  for (const std::uint32_t position : question.visible) {
    const auto& capability = question.machine.gpus[position].capability;
    if (!capability || !is_driven(question, *capability)) continue;
    const GpuFit fit = fit_of(question.registry, question.codes, *capability);
    if (fit.fit != Fit::none) wanted.push_back(fit.code);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

bool can_serve_a_gpu(const CheckCase& question) {
  if (question.machine.gpu_status != GpuStatus::known || question.codes.empty() || question.visible.empty())
    return true;
  return std::any_of(question.visible.begin(), question.visible.end(), [&](std::uint32_t position) {
    const auto& capability = question.machine.gpus[position].capability;
    return !capability || fit_of(question.registry, question.codes, *capability).fit != Fit::none;
  });
}

const DottedVersion* minimum_driver(const CheckCase& question, std::uint32_t cuda_major) {
  const MajorRow* row = find_major(question.registry, cuda_major);
  if (!row || !row->minor_version_compatible) return nullptr;
  const DottedVersion& minimum =
      question.machine.host == HostKind::wsl ? row->minimum_windows_driver : row->minimum_driver;
  return minimum ? &minimum : nullptr;
}

bool is_below_minimum(const CheckCase& question, std::uint32_t cuda_major) {
  const MachineFacts& machine = question.machine;
  if (machine.host == HostKind::tegra || machine.has_compat_library || !machine.kernel_version) return false;
  const DottedVersion* minimum = minimum_driver(question, cuda_major);
  if (!minimum) return false;
  // Of a driver that is described by its branch alone, no more is known.
  if (machine.kernel_version->count == 1) return (*machine.kernel_version)[0] < (*minimum)[0];
  return *machine.kernel_version < *minimum;
}

std::uint32_t kernel_branch(const CheckCase& question) {
  const auto& version = question.machine.kernel_version;
  if (!version) return 0;
  const DriverBranchRow* row = branch_of(question.registry, *version, numbers_of(question.machine));
  return row ? row->branch : (*version)[0];
}

bool has_same_ptx(const CheckCase& question) {
  if (!question.toolkit.release || !question.machine.cuda) return false;
  const auto* toolkit = architectures_of(question.registry, *question.toolkit.release);
  const auto* driver =
      architectures_of(question.registry, {question.machine.cuda->major, question.machine.cuda->minor, 0});
  return toolkit && driver && toolkit->ptx_isa == driver->ptx_isa;
}

std::vector<Reason> judge(const CheckCase& question) {
  std::vector<Reason> reasons;
  if (auto reason = judge_driver(question)) reasons.push_back(*std::move(reason));

  const MachineFacts& machine = question.machine;
  if (machine.gpu_status != GpuStatus::known || question.visible.empty()) {
    const bool is_told = machine.driver != DriverStatus::present && machine.gpu_status != GpuStatus::known;
    if (!is_told) reasons.push_back(unknown(ReasonKind::gpu_unknown));
    return reasons;
  }
  const auto says_toolkit_unknown = [](const Reason& reason) { return reason.kind == ReasonKind::toolkit_unknown; };
  if (question.codes.empty() && std::none_of(reasons.begin(), reasons.end(), says_toolkit_unknown))
    reasons.push_back(unknown(ReasonKind::toolkit_unknown));
  judge_each_gpu(question, reasons);
  return reasons;
}

Verdict worst_of(const std::vector<Reason>& reasons) {
  Verdict worst = Verdict::ok;
  for (const Reason& reason : reasons) worst = std::max(worst, reason.verdict);
  return worst;
}

}  // namespace cudaenv::core
