// SPDX-License-Identifier: Apache-2.0
#include "core/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.hpp"

namespace cudaenv::core {
namespace {

constexpr std::string_view k_gpu = "GPU-";
constexpr std::string_view k_instance = "MIG-";
constexpr std::string_view k_instance_of_gpu = "MIG-GPU-";

bool is_index(std::string_view entry) {
  return !entry.empty() && std::all_of(entry.begin(), entry.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The only GPU that fits.
template <class Fits>
std::optional<std::size_t> only_one(std::span<const Gpu> gpus, Fits fits) {
  const auto first = std::find_if(gpus.begin(), gpus.end(), fits);
  if (first == gpus.end() || std::find_if(first + 1, gpus.end(), fits) != gpus.end()) return std::nullopt;
  return static_cast<std::size_t>(first - gpus.begin());
}

std::optional<std::size_t> by_uuid(std::string_view start, std::span<const Gpu> gpus) {
  return only_one(gpus, [&](const Gpu& gpu) { return gpu.uuid.starts_with(start); });
}

std::optional<std::size_t> by_instance(std::string_view start, std::span<const Gpu> gpus) {
  const auto fits = [&](const std::string& uuid) { return uuid.starts_with(start); };
  const auto has_it = [&](const Gpu& gpu) { return std::any_of(gpu.mig_uuids.begin(), gpu.mig_uuids.end(), fits); };
  const auto found = only_one(gpus, has_it);
  if (found && std::count_if(gpus[*found].mig_uuids.begin(), gpus[*found].mig_uuids.end(), fits) == 1) return found;
  // The form of drivers before R470, which newer ones still take: MIG-GPU-<uuid>/<GPU instance>/<compute instance>.
  const std::size_t slash = start.find('/');
  if (!start.starts_with(k_instance_of_gpu) || slash == std::string_view::npos) return std::nullopt;
  return by_uuid(start.substr(k_instance.size(), slash - k_instance.size()), gpus);
}

std::optional<std::size_t> position_of(std::string_view entry, std::span<const Gpu> gpus) {
  if (is_index(entry)) {
    std::size_t index = 0;
    const auto result = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    if (result.ec != std::errc() || index >= gpus.size()) return std::nullopt;
    return index;
  }
  if (entry.starts_with(k_gpu)) return by_uuid(entry, gpus);
  if (entry.starts_with(k_instance)) return by_instance(entry, gpus);
  return std::nullopt;
}

}  // namespace

VisibleDevices visible_devices(std::string_view value, std::span<const Gpu> gpus) {
  VisibleDevices visible;
  if (base::trimmed(value).empty()) return visible;
  for (const std::string_view part : base::split(value, ',')) {
    const std::string_view entry = base::trimmed(part);
    const auto position = position_of(entry, gpus);
    if (!position) {
      visible.bad_entry = entry;
      visible.is_cut = true;
      break;
    }
    if (std::find(visible.positions.begin(), visible.positions.end(), *position) == visible.positions.end())
      visible.positions.push_back(*position);
  }
  return visible;
}

bool counts_devices(std::string_view value) { return is_index(base::trimmed(base::split(value, ',').front())); }

}  // namespace cudaenv::core
