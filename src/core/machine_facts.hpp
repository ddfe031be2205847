// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dotted_version.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// How a fact about this machine was learnt.
enum class FactSource {
  nobody,        // it was not
  libcuda,       // the CUDA driver library answered
  nvml,          // the management library answered
  kernel_files,  // /proc/driver/nvidia/version, /sys/module/nvidia/version
  branch_table,  // concluded from the number of the driver by the registry
  description,   // a person said so (check --driver, CUDAENV_OVERRIDE_*)
};

enum class DriverStatus {
  present,
  absent,   // no sign of NVIDIA's driver
  nouveau,  // the card belongs to another driver, with which there is no CUDA
  unknown,  // it may be there: it does not answer, or was not described
};

// What the driver says of GPUs.
enum class GpuStatus {
  known,    // `gpus` is all of them
  none,     // it lists none: power saving, PRIME, a container without devices, a card too new for it
  unknown,  // it could not be asked, or was not described
};

enum class HostKind { plain, wsl, tegra };

struct Gpu {
  std::uint32_t index = 0;                      // NVML's, as nvidia-smi counts; where NVML does not answer, CUDA's
  std::string name;                             // as the driver writes it; empty: unknown
  std::optional<ComputeCapability> capability;  // nothing: the driver would not tell
  std::string uuid;                             // GPU-...; empty: unknown
  std::vector<std::string> mig_uuids;           // of its instances, MIG-...
  bool has_mig = false;                         // MIG mode is on: work runs in an instance only
  bool is_visible = true;                       // CUDA_VISIBLE_DEVICES lets programs see it, or an instance of it
};

// Driver and GPUs of a machine, as far as they are known, each with how it was learnt. What the gate decides by.
struct MachineFacts {
  HostKind host = HostKind::plain;

  DriverStatus driver = DriverStatus::unknown;
  std::optional<DottedVersion> kernel_version;  // 550.54.14; under WSL the Windows driver's, 551.61
  FactSource kernel_version_source = FactSource::nobody;

  // The newest CUDA that the driver implements: what its libcuda reports, if that can work with the kernel's part.
  std::optional<Minor> cuda;
  FactSource cuda_source = FactSource::nobody;
  bool is_cuda_at_least = false;  // the driver may implement a newer one too (it is newer than the tables)

  std::string libcuda;                // path of the library that answered; empty: none did
  std::optional<Minor> libcuda_cuda;  // what it reported, believed or not
  bool is_out_of_step = false;        // libraries of another version than the kernel's part: a reboot is due
  bool has_compat_library = false;    // a forward-compatibility libcuda is in use and works

  GpuStatus gpu_status = GpuStatus::unknown;
  FactSource gpu_source = FactSource::nobody;
  std::vector<Gpu> gpus;
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES, if it is set and was obeyed

  // Lines for a person: why something is unknown, parts that do not fit together, what to do about it. The first of
  // each kind of ignorance answers "unknown, because ...".
  std::string driver_reason;
  std::string gpu_reason;
  std::vector<std::string> notes;

  bool is_described = false;  // by a person: nothing was asked of this machine
};

}  // namespace cudaenv::core
