// SPDX-License-Identifier: Apache-2.0
#include "core/observed_driver.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/visible_devices.hpp"

namespace cudaenv::core {
namespace {

// The driver's version at the end of a real file name: libcuda.so.550.54.14. Under WSL and on a Jetson that is 1.1.
std::optional<DottedVersion> version_in_name(std::string_view path) {
  constexpr std::string_view k_so = ".so.";
  constexpr std::uint32_t k_least_branch = 100;
  const std::size_t at = path.rfind(k_so);
  if (at == std::string_view::npos) return std::nullopt;
  const auto version = parse_dotted_version(path.substr(at + k_so.size()));
  return version && version->count >= 2 && (*version)[0] >= k_least_branch ? version : std::nullopt;
}

std::optional<DottedVersion> kernel_version(const Observation& seen) {
  if (const auto version = parse_dotted_version(base::trimmed(seen.nvml_driver))) return version;
  return parse_dotted_version(base::trimmed(seen.kernel_version));
}

}  // namespace

ObservedDriver observed_driver(const Observation& seen, const Registry& registry) {
  ObservedDriver driver;
  if (seen.version_status == 0 && seen.version >= 1000)
    driver.libcuda =
        Minor{static_cast<std::uint32_t>(seen.version / 1000), static_cast<std::uint32_t>(seen.version % 1000 / 10)};
  driver.kernel = kernel_version(seen);
  driver.has_kernel_part = driver.kernel || seen.has_nvidia_module || seen.has_dxg || seen.host == HostKind::tegra;
  if (seen.host == HostKind::tegra) return driver;

  if (driver.kernel)
    driver.kernel_cuda = cuda_of_driver(
        registry, *driver.kernel, seen.host == HostKind::wsl ? DriverNumbers::of_windows : DriverNumbers::of_linux);
  driver.is_newer_cuda =
      driver.libcuda && driver.kernel_cuda && driver.kernel_cuda->most && *driver.libcuda > *driver.kernel_cuda->most;

  const bool is_refused = seen.nvml_status == k_nvml_library_mismatch;
  if (is_refused) driver.library = version_in_name(seen.nvml.path);
  if (!driver.library) driver.library = version_in_name(seen.libcuda.path);
  const bool has_other_name =
      seen.host == HostKind::plain && driver.kernel && driver.library && *driver.kernel != *driver.library;
  driver.is_mismatch = is_refused || has_other_name || seen.init_status == k_cuda_system_driver_mismatch;
  return driver;
}

std::string unfinished_reason(const Observation& seen) {
  const std::string in = seen.end_call.empty() ? std::string() : fmt::format(" in {}", seen.end_call);
  switch (seen.end) {
    case ProbeEnd::finished: return {};
    case ProbeEnd::not_run: return "the driver's libraries could not be asked";
    case ProbeEnd::timed_out:
      return fmt::format("the driver did not answer within {} s{}", seen.end_number / 1000.0, in);
    case ProbeEnd::killed: return fmt::format("the driver's library crashed{} (signal {})", in, seen.end_number);
    case ProbeEnd::exited:
      return fmt::format("the driver's library ended the program{} (status {})", in, seen.end_number);
  }
  return {};
}

bool has_all_of_nvml(const Observation& seen) {
  return seen.nvml_status == 0 && seen.nvml_count && seen.nvml_gpus.size() >= *seen.nvml_count;
}

bool has_all_of_cuda(const Observation& seen) {
  return seen.init_status == 0 && seen.cuda_count && seen.cuda_gpus.size() >= *seen.cuda_count;
}

bool needs_cuda_order(const Observation& seen) {
  if (!seen.visible_devices || !counts_devices(*seen.visible_devices)) return false;
  if (seen.device_order == "PCI_BUS_ID") return false;
  return std::any_of(seen.nvml_gpus.begin(), seen.nvml_gpus.end(),
                     [&](const ObservedGpu& gpu) { return gpu.capability != seen.nvml_gpus.front().capability; });
}

bool needs_cuda_init(const Observation& seen, const Registry& registry) {
  const ObservedDriver driver = observed_driver(seen, registry);
  if (!driver.libcuda) return false;
  if (!has_all_of_nvml(seen) || seen.nvml_gpus.empty()) return true;
  const auto is_told = [](const ObservedGpu& gpu) { return gpu.capability.has_value(); };
  if (!std::all_of(seen.nvml_gpus.begin(), seen.nvml_gpus.end(), is_told)) return true;
  return driver.is_newer_cuda || driver.is_mismatch || needs_cuda_order(seen);
}

bool is_settled(const Observation& seen) {
  if (seen.end != ProbeEnd::finished) return false;
  const bool is_init_settled = !seen.init_status || *seen.init_status == 0 || *seen.init_status == k_cuda_no_device ||
                               *seen.init_status == k_cuda_compat_not_supported;
  if (!is_init_settled) return false;
  const bool is_under_windows = seen.has_dxg && !(seen.libcuda.path.empty() && seen.nvml.path.empty());
  const bool has_driver =
      !seen.kernel_version.empty() || seen.has_nvidia_module || is_under_windows || seen.host == HostKind::tegra;
  if (!has_driver) return !seen.nvml_status || *seen.nvml_status == 0 || *seen.nvml_status == k_nvml_driver_not_loaded;

  if (seen.libcuda.path.empty() || seen.version_status != 0) return false;
  if (seen.host == HostKind::tegra && has_all_of_cuda(seen)) return !seen.cuda_gpus.empty();
  if (!has_all_of_nvml(seen) || seen.nvml_gpus.empty()) return false;
  const auto is_told = [&](const ObservedGpu& gpu) {
    const auto is_same = [&](const ObservedGpu& other) { return other.uuid == gpu.uuid && other.capability; };
    return gpu.capability || std::any_of(seen.cuda_gpus.begin(), seen.cuda_gpus.end(), is_same);
  };
  return std::all_of(seen.nvml_gpus.begin(), seen.nvml_gpus.end(), is_told);
}

}  // namespace cudaenv::core
