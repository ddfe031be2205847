// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/driver_cuda.hpp"
#include "core/observation.hpp"

namespace cudaenv::core {

// Status numbers that mean something to us. Source: CUDA Driver API, enum CUresult; NVML API, enum nvmlReturn_t.
inline constexpr int k_cuda_stub_library = 34;
inline constexpr int k_cuda_no_device = 100;
inline constexpr int k_cuda_system_driver_mismatch = 803;
inline constexpr int k_cuda_compat_not_supported = 804;
inline constexpr int k_nvml_driver_not_loaded = 9;
inline constexpr int k_nvml_library_mismatch = 18;

inline constexpr std::string_view k_mismatch_note = "kernel module ";  // starts the note that names both versions

// How the parts of a driver fit together: what an observation says before anybody believes it.
struct ObservedDriver {
  std::optional<Minor> libcuda;           // CUDA that libcuda reports
  std::optional<DottedVersion> kernel;    // the kernel part, by NVML or the kernel's files
  std::optional<DriverCuda> kernel_cuda;  // what that number stands for; not on a Jetson
  std::optional<DottedVersion> library;   // the user part, by the names of its files
  bool has_kernel_part = false;           // of whatever number
  bool is_newer_cuda = false;  // libcuda reports more than a driver of that number can: forward compatibility
  bool is_mismatch = false;    // the user part is not of the kernel part's version, as NVML or the file names tell
};
ObservedDriver observed_driver(const Observation& seen, const Registry& registry);

// Why the child did not ask everything, as a line; empty if it did.
std::string unfinished_reason(const Observation& seen);

// Whether NVML listed its GPUs to the last one; and libcuda those that programs may see.
bool has_all_of_nvml(const Observation& seen);
bool has_all_of_cuda(const Observation& seen);

// Whether CUDA_VISIBLE_DEVICES counts GPUs in an order that only libcuda knows: fastest first, as it sees it.
bool needs_cuda_order(const Observation& seen);

}  // namespace cudaenv::core
