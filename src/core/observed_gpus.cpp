// SPDX-License-Identifier: Apache-2.0
#include "core/observed_gpus.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/check.hpp"
#include "core/observed_driver.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "core/visible_devices.hpp"

namespace cudaenv::core {
namespace {

Gpu gpu_of(const ObservedGpu& seen) {
  return {seen.index, seen.name, seen.capability, seen.uuid, seen.mig_uuids, seen.has_mig, true};
}

const ObservedGpu* find_gpu(const std::vector<ObservedGpu>& gpus, const std::string& uuid) {
  const auto at = std::find_if(gpus.begin(), gpus.end(), [&](const ObservedGpu& gpu) { return gpu.uuid == uuid; });
  return uuid.empty() || at == gpus.end() ? nullptr : &*at;
}

// What programs see as CUDA itself tells, if it was asked.
bool is_order_known(const Observation& seen) {
  return has_all_of_cuda(seen) && !seen.cuda_gpus.empty() &&
         std::all_of(seen.cuda_gpus.begin(), seen.cuda_gpus.end(),
                     [&](const ObservedGpu& gpu) { return find_gpu(seen.nvml_gpus, gpu.uuid); });
}

bool is_none_visible(const MachineFacts& facts) {
  return std::none_of(facts.gpus.begin(), facts.gpus.end(), [](const Gpu& gpu) { return gpu.is_visible; });
}

// Sets is_visible where CUDA_VISIBLE_DEVICES is set.
void hide(const Observation& seen, MachineFacts& facts) {
  const std::string& value = *seen.visible_devices;
  if (is_order_known(seen)) {
    for (Gpu& gpu : facts.gpus) gpu.is_visible = find_gpu(seen.cuda_gpus, gpu.uuid) != nullptr;
  } else {
    const VisibleDevices visible = visible_devices(value, facts.gpus);
    for (Gpu& gpu : facts.gpus) gpu.is_visible = false;
    for (const std::size_t position : visible.positions) facts.gpus[position].is_visible = true;
    if (visible.is_cut && visible.bad_entry != "-1")
      facts.notes.push_back(
          fmt::format("CUDA_VISIBLE_DEVICES={} ends for CUDA at '{}', which is no GPU here", value, visible.bad_entry));
    if (needs_cuda_order(seen) && !visible.positions.empty())
      facts.notes.push_back(
          "CUDA_VISIBLE_DEVICES is taken to count GPUs in the order of the bus, since CUDA could not be asked for its "
          "own; CUDA_DEVICE_ORDER=PCI_BUS_ID makes that sure");
  }
  if (is_none_visible(facts)) facts.gpu_reason = fmt::format("CUDA_VISIBLE_DEVICES={} lets programs see no GPU", value);
}

void take_nvml(const Observation& seen, MachineFacts& facts) {
  facts.gpu_status = GpuStatus::known;
  facts.gpu_source = FactSource::nvml;
  for (const ObservedGpu& gpu : seen.nvml_gpus) {
    facts.gpus.push_back(gpu_of(gpu));
    const ObservedGpu* same = find_gpu(seen.cuda_gpus, gpu.uuid);
    if (!gpu.capability && same) facts.gpus.back().capability = same->capability;
  }
  if (seen.visible_devices) hide(seen, facts);
  // In MIG mode work runs in an instance only. (NVIDIA MIG User Guide)
  for (Gpu& gpu : facts.gpus) {
    if (!gpu.is_visible || !gpu.has_mig || !gpu.mig_uuids.empty()) continue;
    gpu.is_visible = false;
    facts.notes.push_back(fmt::format("{} is in MIG mode without an instance, so CUDA does not see it", to_text(gpu)));
    if (is_none_visible(facts)) facts.gpu_reason = facts.notes.back();
  }
}

// A GPU in MIG mode is listed once for each of its instances that a program may use, which is one at most.
void take_cuda(const Observation& seen, MachineFacts& facts) {
  facts.gpu_status = GpuStatus::known;
  facts.gpu_source = FactSource::libcuda;
  for (const ObservedGpu& gpu : seen.cuda_gpus) facts.gpus.push_back(gpu_of(gpu));
}

// --- Why there are none ---

std::string name_of(const PciRow& row) { return fmt::format("{}, {}", row.name, to_text(row.capability)); }

// A card of the PCI bus that this driver cannot drive, since either is too old for the other; empty if that cannot be
// told.
std::string unfit_card(const Registry& registry, const MachineFacts& facts, std::uint16_t device) {
  const PciRow* row = find_pci_device(registry, device);
  const ChipRow* chip = row ? find_chip(registry, row->capability) : nullptr;
  if (!chip || !facts.kernel_version || facts.host != HostKind::plain) return {};
  const std::uint32_t branch = (*facts.kernel_version)[0];
  const std::string driver = driver_text(*facts.kernel_version);
  if (chip->last_driver_branch != 0 && branch > chip->last_driver_branch)
    return fmt::format("driver {} no longer drives this GPU ({}); the last to do so was {}", driver, name_of(*row),
                       chip->last_driver_branch);
  if (branch < chip->first_driver_branch)
    return fmt::format("driver {} is older than this GPU ({}), which needs {} or newer", driver, name_of(*row),
                       chip->first_driver_branch);
  return {};
}

std::string nothing_listed(const Observation& seen, const Registry& registry, const MachineFacts& facts) {
  for (const std::uint16_t device : seen.pci_devices)
    if (std::string reason = unfit_card(registry, facts, device); !reason.empty()) return reason;
  if (seen.visible_devices && !has_all_of_nvml(seen))
    return fmt::format("CUDA_VISIBLE_DEVICES={} lets programs see no GPU, or there is none", *seen.visible_devices);
  const std::string driver =
      facts.kernel_version ? fmt::format("driver {} loaded", driver_text(*facts.kernel_version)) : "driver there";
  if (seen.host == HostKind::plain && seen.pci_devices.empty())
    return driver + ", no device visible (power saving, PRIME profile, or a container without the devices?)";
  return driver + ", no device visible (power saving or PRIME profile?)";
}

std::string not_asked(const Observation& seen, const MachineFacts& facts) {
  if (facts.driver == DriverStatus::unknown) return facts.driver_reason;
  if (seen.nvml_status == k_nvml_library_mismatch) {
    // The driver's half has told which versions they are.
    for (const std::string& note : facts.notes)
      if (note.starts_with(k_mismatch_note)) return note;
    return "NVML does not answer: the user libraries are not of the kernel module's version";
  }
  if (seen.init_status && *seen.init_status != 0) {
    if (seen.nvml_status && *seen.nvml_status != 0)
      return fmt::format("neither NVML nor CUDA answers: errors {} and {}", *seen.nvml_status, *seen.init_status);
    return fmt::format("CUDA does not answer: error {}", *seen.init_status);
  }
  if (std::string reason = unfinished_reason(seen); !reason.empty()) return reason;
  if (seen.nvml_status && *seen.nvml_status != 0)
    return fmt::format("NVML does not answer: error {}", *seen.nvml_status);
  return "neither libcuda.so.1 nor libnvidia-ml.so.1 answers";
}

}  // namespace

void conclude_gpus(const Observation& seen, const Registry& registry, MachineFacts& facts) {
  facts.visible_devices = seen.visible_devices;
  if (facts.driver == DriverStatus::absent || facts.driver == DriverStatus::nouveau) {
    facts.gpu_reason = facts.driver_reason;
    return;
  }
  if (has_all_of_nvml(seen) && !seen.nvml_gpus.empty()) return take_nvml(seen, facts);
  if (has_all_of_cuda(seen) && !seen.cuda_gpus.empty()) return take_cuda(seen, facts);

  const bool lists_none = has_all_of_nvml(seen) || has_all_of_cuda(seen) ||
                          (seen.init_status == k_cuda_no_device && facts.driver == DriverStatus::present);
  facts.gpu_status = lists_none ? GpuStatus::none : GpuStatus::unknown;
  facts.gpu_reason = lists_none ? nothing_listed(seen, registry, facts) : not_asked(seen, facts);
}

}  // namespace cudaenv::core
