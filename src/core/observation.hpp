// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine_facts.hpp"
#include "core/registry.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_not_found = "not found";

// One of the driver's libraries, as it was found.
struct ObservedLibrary {
  std::string path;   // real path of the one that was opened; empty: none was
  std::string error;  // why none was: k_not_found if there is none, else what the loader says
  std::string stub;   // a toolkit's link stub that lay in the way; it was passed over
};

struct ObservedGpu {
  std::uint32_t index = 0;  // in the list of the library that told
  std::string name;
  std::string uuid;                             // GPU-...
  std::optional<ComputeCapability> capability;  // nothing: it would not tell
  bool has_mig = false;
  std::vector<std::string> mig_uuids;  // MIG-...
};

// How the child that asks the libraries ended.
enum class ProbeEnd {
  not_run,    // or not yet ended
  finished,   // all was asked
  timed_out,  // `end_number`: milliseconds
  killed,     // by a signal: `end_number`
  exited,     // in the middle: `end_number` is its exit status
};

// What was read from a machine, nothing concluded. Status numbers are those of the libraries; nothing: not called.
struct Observation {
  HostKind host = HostKind::plain;
  std::string kernel_version;       // as it is written in
  std::string kernel_version_file;  // this file
  bool has_nvidia_module = false;
  bool has_nouveau = false;
  bool has_dxg = false;                    // /dev/dxg, WSL's way to the GPU
  std::vector<std::uint16_t> pci_devices;  // device ids of NVIDIA's display controllers

  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
  std::optional<std::string> device_order;     // CUDA_DEVICE_ORDER

  ObservedLibrary libcuda;
  std::optional<int> version_status;        // of cuDriverGetVersion
  int version = 0;                          // 12040 is CUDA 12.4
  std::optional<int> init_status;           // of cuInit
  std::optional<std::uint32_t> cuda_count;  // by cuDeviceGetCount
  std::vector<ObservedGpu> cuda_gpus;       // those that CUDA_VISIBLE_DEVICES allows, in CUDA's order

  ObservedLibrary nvml;
  std::optional<int> nvml_status;           // of nvmlInit
  std::string nvml_driver;                  // the driver's version by NVML
  std::optional<std::uint32_t> nvml_count;  // by nvmlDeviceGetCount
  std::vector<ObservedGpu> nvml_gpus;       // all of them, in the order of the bus; fewer if it ended among them

  ProbeEnd end = ProbeEnd::not_run;
  int end_number = 0;
  std::string end_call;  // what was being called when it ended
};

// One fact a line; a value cannot make a line of its own. Texts of partial observations may be joined: the sum is what
// they hold together. That is how a child tells what it learns while it learns it.
std::string to_text(const Observation& observation);

// Nothing unless the first line is that of to_text. Lines that are not understood, or not ended, are left out.
std::optional<Observation> parse_observation(std::string_view text);

// Whether nothing failed that may well succeed a minute later, so that it is worth keeping until the next boot. A
// time-out, a crash, an error of NVML or cuInit, a loaded kernel module without devices or without libraries are not
// settled; no driver at all is.
bool is_settled(const Observation& observation);

// Whether cuInit has to be called, which takes long, after all that is cheaper: for GPUs that NVML did not tell, for a
// libcuda that does not fit the kernel's part, or for the order in which CUDA counts.
bool needs_cuda_init(const Observation& observation, const Registry& registry);

// What is to be believed of it.
MachineFacts conclude(const Observation& observation, const Registry& registry);

}  // namespace cudaenv::core
