// SPDX-License-Identifier: Apache-2.0
#include "commands/machine_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/check.hpp"
#include "core/version_text.hpp"

namespace cudaenv::commands {
namespace {

using base::Value;
using core::DriverStatus;
using core::FactSource;
using core::GpuStatus;

Value or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(core::to_text(*value)) : Value();
}

std::string_view word(DriverStatus status) {
  switch (status) {
    case DriverStatus::present: return "present";
    case DriverStatus::absent: return "absent";
    case DriverStatus::nouveau: return "nouveau";
    case DriverStatus::unknown: return "unknown";
  }
  return "unknown";
}

std::string_view word(GpuStatus status) {
  switch (status) {
    case GpuStatus::known: return "known";
    case GpuStatus::none: return "none";
    case GpuStatus::unknown: return "unknown";
  }
  return "unknown";
}

std::string_view word(core::HostKind host) {
  switch (host) {
    case core::HostKind::plain: return "plain";
    case core::HostKind::wsl: return "wsl";
    case core::HostKind::tegra: return "jetson";
  }
  return "plain";
}

std::string_view word(FactSource source) {
  switch (source) {
    case FactSource::nobody: return "nobody";
    case FactSource::libcuda: return "libcuda";
    case FactSource::nvml: return "nvml";
    case FactSource::kernel_files: return "kernel-files";
    case FactSource::branch_table: return "branch-table";
    case FactSource::description: return "description";
  }
  return "nobody";
}

Value texts(const std::vector<std::string>& list) { return Value::Array(list.begin(), list.end()); }

// A Jetson's driver has no two digits.
std::string version_text(const core::MachineFacts& machine) {
  return machine.host == core::HostKind::tegra ? core::to_text(*machine.kernel_version)
                                               : core::driver_text(*machine.kernel_version);
}

Value document(const core::Gpu& gpu) {
  return Value::Object{{"index", static_cast<int>(gpu.index)},
                       {"name", or_null(gpu.name)},
                       {"compute_capability", or_null(gpu.capability)},
                       {"uuid", or_null(gpu.uuid)},
                       {"mig", gpu.has_mig},
                       {"mig_uuids", texts(gpu.mig_uuids)},
                       {"visible", gpu.is_visible}};
}

}  // namespace

std::string_view to_text(FactSource source) {
  switch (source) {
    case FactSource::nobody: return "not to be had";
    case FactSource::libcuda: return "libcuda";
    case FactSource::nvml: return "NVML";
    case FactSource::kernel_files: return "the kernel's files";
    case FactSource::branch_table: return "concluded from the driver's number";
    case FactSource::description: return "as described by CUDAENV_OVERRIDE_DRIVER or CUDAENV_OVERRIDE_GPUS";
  }
  return "";
}

bool is_without_instance(const core::Gpu& gpu) { return gpu.has_mig && gpu.mig_uuids.empty(); }

std::string mig_text(const core::Gpu& gpu) {
  return fmt::format("MIG with {} instance{}", gpu.mig_uuids.size(), gpu.mig_uuids.size() == 1 ? "" : "s");
}

std::string driver_line(const core::MachineFacts& machine) {
  switch (machine.driver) {
    case DriverStatus::absent:
    case DriverStatus::nouveau:
    case DriverStatus::unknown:
      if (!machine.kernel_version && !machine.cuda)
        return machine.driver_reason.empty() ? "driver: unknown" : "driver: " + machine.driver_reason;
      break;
    case DriverStatus::present: break;
  }
  std::string line = machine.kernel_version ? "driver " + version_text(machine) : "driver";
  if (machine.host == core::HostKind::wsl) line += " (of Windows)";
  line += machine.cuda
              ? fmt::format(", CUDA {}{}", core::to_text(*machine.cuda), machine.is_cuda_at_least ? " or newer" : "")
              : ", CUDA unknown";
  if (machine.is_described) line += " (as described)";
  return line;
}

std::vector<std::string> gpu_lines(const core::MachineFacts& machine) {
  std::vector<std::string> lines;
  for (const core::Gpu& gpu : machine.gpus) {
    std::string line = core::to_text(gpu);
    if (!gpu.capability) line += ", compute capability unknown";
    if (gpu.has_mig) line += ", " + mig_text(gpu);
    if (!gpu.is_visible && !is_without_instance(gpu)) line += ", hidden by CUDA_VISIBLE_DEVICES";
    lines.push_back(base::escaped(line));
  }
  const bool is_told = machine.gpu_reason == machine.driver_reason;
  if (!is_told && (machine.gpu_status != GpuStatus::known || lines.empty() || !machine.gpu_reason.empty()))
    lines.push_back(machine.gpu_reason.empty() ? "GPUs: unknown" : "GPUs: " + base::escaped(machine.gpu_reason));
  return lines;
}

Value document(const core::MachineFacts& machine) {
  Value::Object driver{{"status", word(machine.driver)},
                       {"version", machine.kernel_version ? Value(version_text(machine)) : Value()},
                       {"version_source", word(machine.kernel_version_source)},
                       {"cuda", or_null(machine.cuda)},
                       {"cuda_source", word(machine.cuda_source)},
                       {"cuda_is_at_least", machine.is_cuda_at_least},
                       {"libcuda", or_null(machine.libcuda)},
                       {"libcuda_cuda", or_null(machine.libcuda_cuda)},
                       {"compat", machine.has_compat_library},
                       {"reason", or_null(machine.driver_reason)}};
  Value::Array gpus;
  for (const core::Gpu& gpu : machine.gpus) gpus.push_back(document(gpu));
  return Value::Object{{"host", word(machine.host)},
                       {"described", machine.is_described},
                       {"driver", std::move(driver)},
                       {"gpu_status", word(machine.gpu_status)},
                       {"gpu_source", word(machine.gpu_source)},
                       {"gpu_reason", or_null(machine.gpu_reason)},
                       {"gpus", std::move(gpus)},
                       {"visible_devices", machine.visible_devices ? Value(*machine.visible_devices) : Value()},
                       {"notes", texts(machine.notes)}};
}

}  // namespace cudaenv::commands
