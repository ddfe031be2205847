// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/machine_facts.hpp"
#include "core/registry_lookup.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::test {

// A machine for the gate, built a step at a time:
//   Machine().driver("550.54.14").gpu("8.6", "NVIDIA A10").hidden_gpu("3.5")
// A driver implements what the tables say of its branch, unless cuda() says otherwise.
class Machine {
 public:
  Machine() {
    m_facts.driver = core::DriverStatus::absent;
    m_facts.gpu_status = core::GpuStatus::unknown;
  }

  Machine& on(core::HostKind host) {
    m_facts.host = host;
    return *this;
  }
  Machine& driver(std::string_view version) {
    m_facts.driver = core::DriverStatus::present;
    m_facts.kernel_version = core::parse_dotted_version(version);
    m_facts.kernel_version_source = core::FactSource::nvml;
    const auto numbers =
        m_facts.host == core::HostKind::wsl ? core::DriverNumbers::of_windows : core::DriverNumbers::of_linux;
    const auto* row = core::branch_of(registry::builtin(), *m_facts.kernel_version, numbers);
    if (row) cuda({row->cuda_major, row->cuda_minor}, core::FactSource::branch_table);
    if (m_facts.gpu_status == core::GpuStatus::unknown) m_facts.gpu_status = core::GpuStatus::none;
    return *this;
  }
  Machine& cuda(core::Minor minor, core::FactSource source = core::FactSource::libcuda) {
    m_facts.driver = core::DriverStatus::present;
    m_facts.cuda = minor;
    m_facts.cuda_source = source;
    return *this;
  }
  Machine& no_cuda() {
    m_facts.cuda.reset();
    return *this;
  }
  Machine& cuda_at_least(core::Minor minor) {
    cuda(minor);
    m_facts.is_cuda_at_least = true;
    return *this;
  }
  Machine& compat_library() {
    m_facts.has_compat_library = true;
    return *this;
  }
  Machine& out_of_step() {
    m_facts.is_out_of_step = true;
    m_facts.libcuda_cuda = core::Minor{13, 0};  // of the libraries that wait for the reboot
    return *this;
  }
  Machine& driver_status(core::DriverStatus status) {
    m_facts.driver = status;
    return *this;
  }
  Machine& gpu_status(core::GpuStatus status) {
    m_facts.gpu_status = status;
    return *this;
  }
  // `capability` empty: the driver would not tell.
  Machine& gpu(std::string_view capability, std::string_view name = "") { return add(capability, name, true); }
  Machine& hidden_gpu(std::string_view capability, std::string_view name = "") { return add(capability, name, false); }
  Machine& described() {
    m_facts.is_described = true;
    return *this;
  }

  const core::MachineFacts& facts() const { return m_facts; }
  core::MachineFacts& facts() { return m_facts; }

 private:
  Machine& add(std::string_view capability, std::string_view name, bool is_visible) {
    core::Gpu gpu;
    gpu.index = static_cast<std::uint32_t>(m_facts.gpus.size());
    gpu.name = std::string(name);
    gpu.is_visible = is_visible;
    if (const auto number = core::parse_dotted_version(capability))
      gpu.capability =
          core::ComputeCapability{static_cast<std::uint16_t>((*number)[0]), static_cast<std::uint16_t>((*number)[1])};
    m_facts.gpus.push_back(std::move(gpu));
    m_facts.gpu_status = core::GpuStatus::known;
    return *this;
  }

  core::MachineFacts m_facts;
};

}  // namespace cudaenv::test
