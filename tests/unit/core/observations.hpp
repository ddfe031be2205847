// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/observation.hpp"
#include "core/version_text.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::test {

inline core::ComputeCapability capability_of(std::string_view text) {
  const auto version = core::parse_dotted_version(text).value_or(core::DottedVersion{});
  return {static_cast<std::uint16_t>(version[0]), static_cast<std::uint16_t>(version[1])};
}

inline core::ObservedGpu observed_gpu(std::uint32_t index, std::string_view capability) {
  const std::string number = std::to_string(index);
  return {index, "GPU " + number, "GPU-0000000" + number + "-1111", capability_of(capability), false, {}};
}

// A machine with driver 550.54.14 and one GPU 8.9, on which everything works.
inline core::Observation healthy() {
  core::Observation seen;
  seen.kernel_version = seen.nvml_driver = "550.54.14";
  seen.kernel_version_file = "/proc/driver/nvidia/version";
  seen.has_nvidia_module = true;
  seen.libcuda.path = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14";
  seen.version_status = 0;
  seen.version = 12040;
  seen.nvml.path = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14";
  seen.nvml_status = 0;
  seen.nvml_count = 1;
  seen.nvml_gpus = {observed_gpu(0, "8.9")};
  seen.end = core::ProbeEnd::finished;
  return seen;
}

inline core::MachineFacts facts_of(const core::Observation& seen) { return core::conclude(seen, registry::builtin()); }

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline std::string text_of(const std::optional<core::Minor>& minor) { return minor ? core::to_text(*minor) : "-"; }

// The same machine with another driver, all of one version.
inline void set_driver(core::Observation& seen, const std::string& version, int cuda) {
  seen.kernel_version = seen.nvml_driver = version;
  seen.libcuda.path = "/usr/lib/libcuda.so." + version;
  seen.nvml.path = "/usr/lib/libnvidia-ml.so." + version;
  seen.version = cuda;
}

inline void take_libcuda_away(core::Observation& seen) {
  seen.libcuda = {"", std::string(core::k_not_found), ""};
  seen.version_status.reset();
  seen.version = 0;
}

inline void take_nvml_away(core::Observation& seen) {
  seen.nvml = {"", std::string(core::k_not_found), ""};
  seen.nvml_status.reset();
  seen.nvml_driver.clear();
  seen.nvml_count.reset();
  seen.nvml_gpus.clear();
}

inline void take_kernel_away(core::Observation& seen) {
  seen.kernel_version.clear();
  seen.kernel_version_file.clear();
  seen.has_nvidia_module = false;
}

inline void take_all_away(core::Observation& seen) {
  take_libcuda_away(seen);
  take_nvml_away(seen);
  take_kernel_away(seen);
}

// NVML refuses since the user part was replaced.
inline void refuse_by_nvml(core::Observation& seen, int status) {
  take_nvml_away(seen);
  seen.nvml = {"/usr/lib/libnvidia-ml.so.550.107.02", "", ""};
  seen.nvml_status = status;
}

}  // namespace cudaenv::test
