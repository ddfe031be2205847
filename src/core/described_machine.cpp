// SPDX-License-Identifier: Apache-2.0
#include "core/described_machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/driver_cuda.hpp"
#include "core/gpu_names.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "core/visible_devices.hpp"

namespace cudaenv::core {
namespace {

constexpr std::string_view k_none = "none";
constexpr std::uint32_t k_least_driver = 100;  // what is below is a CUDA version taken for a driver's

tl::unexpected<Error> misunderstood(const std::string& place, std::string_view text, std::string_view expected,
                                    std::string_view example) {
  const bool is_option = place.starts_with("--");
  return fail(
      ErrorKind::usage, fmt::format("{}{}{}: expected {}", place, is_option ? " " : "=", base::escaped(text), expected),
      is_option ? fmt::format("cudaenv check {} {}", place, example) : fmt::format("export {}={}", place, example));
}

// A driver on which CUDA `version` runs in full.
std::string driver_for(const Registry& registry, DottedVersion version) {
  const ReleaseRow* row = newest_release(releases_of(registry, version[0], version[1]), Among::all);
  return row && row->minimum_driver.count > 1 ? driver_text(row->minimum_driver) : std::string();
}

Result<void> describe_driver(const std::string& place, std::string_view written, const Registry& registry,
                             MachineFacts& facts) {
  const std::string_view text = base::trimmed(written);
  if (text == k_none) {
    facts.driver = DriverStatus::absent;
    facts.driver_reason = "described as a machine without a driver";
    return {};
  }
  const auto version = parse_dotted_version(text.starts_with('v') ? text.substr(1) : text);
  constexpr std::string_view k_expected = "the version of a driver, such as 550.54.14, its branch, 550, or none";
  if (!version || version->count > 4) return misunderstood(place, text, k_expected, "550.54.14");
  if ((*version)[0] < k_least_driver) {
    const std::string driver = driver_for(registry, *version);
    if (driver.empty()) return misunderstood(place, text, k_expected, "550.54.14");
    return misunderstood(
        place, text,
        fmt::format("{}; CUDA {}.{} came with driver {}", k_expected, (*version)[0], (*version)[1], driver), driver);
  }
  facts.driver = DriverStatus::present;
  facts.kernel_version = version;
  facts.kernel_version_source = FactSource::description;
  if (const auto cuda = cuda_of_driver(registry, *version, DriverNumbers::of_linux)) {
    facts.cuda = cuda->cuda;
    facts.cuda_source = FactSource::branch_table;
    facts.is_cuda_at_least = cuda->is_at_least;
  } else {
    facts.driver_reason = fmt::format("driver {} is older than the tables", driver_text(*version));
  }
  return {};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<ComputeCapability> parse_capability(std::string_view text) {
  const auto version = parse_dotted_version(text, LeadingZero::refused);
  if (!version || version->count != 2 || (*version)[0] == 0 || (*version)[0] > 99 || (*version)[1] > 9)
    return std::nullopt;
  return ComputeCapability{static_cast<std::uint16_t>((*version)[0]), static_cast<std::uint16_t>((*version)[1])};
}

// "86", "sm_86" or "compute_86", as a compiler is told; without a suffix.
std::optional<ComputeCapability> capability_of_architecture(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (text.size() < 2 || text.size() > 3 || text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return parse_capability(fmt::format("{}.{}", text.substr(0, text.size() - 1), text.back()));
}

// "A100 (8.0) and RTX A400 (8.6)", of each capability the first.
std::string kinds_of(const std::vector<const GpuRow*>& rows) {
  std::vector<std::string> texts;
  std::vector<ComputeCapability> told;
  for (const GpuRow* row : rows) {
    if (std::find(told.begin(), told.end(), row->capability) != told.end()) continue;
    told.push_back(row->capability);
    texts.push_back(fmt::format("{} ({})", row->name, to_text(row->capability)));
  }
  return base::join(texts, " or ");
}

Result<Gpu> describe_named(const std::string& place, std::string_view name, const Registry& registry) {
  const std::vector<const GpuRow*> rows = gpus_meant(registry, name);
  const auto is_other = [&](const GpuRow* row) { return row->capability != rows.front()->capability; };
  if (!rows.empty() && std::none_of(rows.begin(), rows.end(), is_other)) {
    Gpu gpu;
    gpu.name = rows.front()->name;
    gpu.capability = rows.front()->capability;
    return gpu;
  }
  if (!rows.empty())
    return misunderstood(place, name, fmt::format("one GPU: {}", kinds_of(rows)), to_text(rows.front()->capability));
  std::vector<std::string_view> names;
  for (const GpuRow& row : registry.gpus) names.push_back(row.name);
  const std::vector<std::string> meant = base::did_you_mean(name, names);
  constexpr std::string_view k_expected = "the name of a GPU, its compute capability, such as 8.6, or none";
  if (!meant.empty()) return misunderstood(place, name, k_expected, fmt::format("'{}'", meant.front()));
  auto error = misunderstood(place, name, k_expected, "CAPABILITY");
  error.value().details.push_back("NVIDIA lists compute capabilities at https://developer.nvidia.com/cuda-gpus");
  return error;
}

Result<Gpu> describe_gpu(const std::string& place, std::string_view text, const Registry& registry) {
  if (const auto capability = parse_capability(text)) {
    Gpu gpu;
    gpu.capability = capability;
    return gpu;
  }
  if (const auto capability = capability_of_architecture(text)) {
    Gpu gpu;
    gpu.capability = capability;
    return gpu;
  }
  // "4090" is a GPU; "9" and "8.65" are nothing.
  constexpr std::size_t k_shortest_name = 4;
  if (text.empty() || (is_number(text) && (text.size() < k_shortest_name || gpus_meant(registry, text).empty())))
    return misunderstood(place, text, "a compute capability, such as 8.6", "8.6");
  return describe_named(place, text, registry);
}

// UUIDs are not described, so a list of them says nothing of described GPUs.
void hide(const std::string& value, MachineFacts& facts) {
  const std::string_view text = base::trimmed(value);
  if (text.starts_with("GPU-") || text.starts_with("MIG-")) return;
  facts.visible_devices = value;
  const VisibleDevices visible = visible_devices(value, facts.gpus);
  for (Gpu& gpu : facts.gpus) gpu.is_visible = false;
  for (const std::size_t position : visible.positions) facts.gpus[position].is_visible = true;
  if (visible.positions.empty())
    facts.gpu_reason = fmt::format("CUDA_VISIBLE_DEVICES={} lets programs see no GPU", base::escaped(value));
}

Result<void> describe_gpus(const std::string& place, const MachineDescription& description, const Registry& registry,
                           MachineFacts& facts) {
  const std::vector<std::string>& gpus = *description.gpus;
  if (gpus.empty()) return misunderstood(place, "", "a compute capability, such as 8.6, or none", "8.6");
  facts.gpu_source = FactSource::description;
  if (gpus.size() == 1 && base::trimmed(gpus.front()) == k_none) {
    facts.gpu_status = GpuStatus::none;
    facts.gpu_reason = "described as a machine without a GPU";
    return {};
  }
  for (const std::string& text : gpus) {
    if (base::trimmed(text) == k_none) return misunderstood(place, text, "GPUs, or none alone", k_none);
    CUDAENV_TRY(gpu, describe_gpu(place, base::trimmed(text), registry));
    gpu.index = static_cast<std::uint32_t>(facts.gpus.size());
    facts.gpus.push_back(std::move(gpu));
  }
  facts.gpu_status = GpuStatus::known;
  if (description.visible_devices) hide(*description.visible_devices, facts);
  return {};
}

// The driver of a Jetson comes with the board, and its number says nothing of CUDA.
void take_for_jetson(const Registry& registry, MachineFacts& facts) {
  const auto is_tegra = [&](const Gpu& gpu) {
    const ChipRow* chip = gpu.capability ? find_chip(registry, *gpu.capability) : nullptr;
    return chip && chip->is_tegra;
  };
  if (facts.gpus.empty() || !std::all_of(facts.gpus.begin(), facts.gpus.end(), is_tegra)) return;
  facts.host = HostKind::tegra;
  if (!facts.kernel_version) return;
  facts.cuda.reset();
  facts.cuda_source = FactSource::nobody;
  facts.is_cuda_at_least = false;
  facts.driver_reason = "the number of a Jetson's driver does not say its CUDA version";
}

}  // namespace

Result<MachineFacts> describe_machine(const MachineDescription& description, const Registry& registry,
                                      const DescriptionPlaces& places) {
  MachineFacts facts;
  facts.is_described = true;
  facts.driver_reason = "no driver was described";
  facts.gpu_reason = "no GPU was described";
  if (description.driver) {
    facts.driver_reason.clear();
    CUDAENV_CHECK(describe_driver(places.driver, *description.driver, registry, facts));
  }
  if (description.gpus) {
    facts.gpu_reason.clear();
    CUDAENV_CHECK(describe_gpus(places.gpus, description, registry, facts));
  }
  take_for_jetson(registry, facts);
  return facts;
}

std::vector<std::string> split_gpu_list(std::string_view text) {
  std::vector<std::string> gpus;
  for (const std::string_view part : base::split(text, ',')) gpus.emplace_back(base::trimmed(part));
  return gpus;
}

}  // namespace cudaenv::core
