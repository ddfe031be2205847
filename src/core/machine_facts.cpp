// SPDX-License-Identifier: Apache-2.0
#include "core/machine_facts.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/observed_driver.hpp"
#include "core/observed_gpus.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

// A driver is a kernel module and libraries of the same version, and each of them can be asked what it is. They differ
// after an upgrade without a reboot (nothing new starts then, but what the module can do still holds), and where
// somebody put a libcuda of a newer branch in front, which works on some GPUs and not on others, and reports its own
// CUDA version either way. So what libcuda reports is believed if it fits the number of the kernel module or if cuInit,
// the only proof, succeeded with it; otherwise the kernel module's number decides, by the table of branches.

class Conclusion {
 public:
  Conclusion(const Observation& seen, const Registry& registry)
      : m_seen(seen), m_registry(registry), m_driver(observed_driver(seen, registry)) {}

  MachineFacts facts() && {
    m_facts.host = m_seen.host;
    m_facts.kernel_version = m_driver.kernel;
    if (m_driver.kernel)
      m_facts.kernel_version_source = m_seen.nvml_driver.empty() ? FactSource::kernel_files : FactSource::nvml;
    m_facts.libcuda = m_seen.libcuda.path;
    m_facts.libcuda_cuda = m_driver.libcuda;
    tell_stubs();
    if (const std::string reason = unfinished_reason(m_seen); !reason.empty()) note(reason);
    if (is_libcuda_believed())
      take_libcuda();
    else
      take_branch();
    decide_status();
    conclude_gpus(m_seen, m_registry, m_facts);
    make_printable();
    return std::move(m_facts);
  }

 private:
  bool is_libcuda_believed() const {
    if (!m_driver.libcuda) return false;
    if (m_seen.init_status == 0 || m_seen.host == HostKind::tegra) return true;
    if (m_seen.init_status == k_cuda_compat_not_supported) return false;
    return m_driver.has_kernel_part && !m_driver.is_newer_cuda && !m_driver.is_mismatch;
  }

  void take_libcuda() {
    m_facts.cuda = m_driver.libcuda;
    m_facts.cuda_source = FactSource::libcuda;
    if (!m_driver.is_newer_cuda) return;
    m_facts.has_compat_library = true;
    note(fmt::format("forward-compatibility libcuda in use: {} brings CUDA {} to kernel module {}", m_seen.libcuda.path,
                     to_text(*m_driver.libcuda), kernel_text()));
  }

  // Without libcuda, or against it.
  void take_branch() {
    const std::string trouble = libcuda_trouble();
    m_facts.is_out_of_step = trouble.starts_with(k_mismatch_note);
    if (m_driver.kernel_cuda) {
      m_facts.cuda = m_driver.kernel_cuda->cuda;
      m_facts.is_cuda_at_least = m_driver.kernel_cuda->is_at_least;
      m_facts.cuda_source = FactSource::branch_table;
      note(trouble);
    } else if (m_driver.kernel && m_seen.host != HostKind::tegra) {
      m_facts.driver_reason = fmt::format("driver {} is older than the tables", kernel_text());
      note(trouble);
    } else {
      m_facts.driver_reason = trouble;
    }
  }

  // Why what libcuda reports is not known or not believed.
  std::string libcuda_trouble() const {
    const std::string& path = m_seen.libcuda.path;
    if (path.empty() && !m_seen.libcuda.error.empty()) return missing_libcuda();
    if (m_seen.version_status == k_cuda_stub_library)
      return fmt::format("{} is a link stub, not the driver (error {})", path, k_cuda_stub_library);
    if (m_seen.version_status && *m_seen.version_status != 0)
      return fmt::format("{} does not tell its CUDA version: error {}", path, *m_seen.version_status);
    if (m_seen.version_status && !m_driver.libcuda) return fmt::format("{} does not tell its CUDA version", path);
    if (!m_driver.libcuda) {
      const std::string unfinished = unfinished_reason(m_seen);
      return unfinished.empty() ? fmt::format("{} does not tell its CUDA version", path) : unfinished;
    }
    if (!m_driver.has_kernel_part)
      return fmt::format("{} (CUDA {}) is there, but the driver's kernel module is not", path,
                         to_text(*m_driver.libcuda));
    return misfit();
  }

  std::string missing_libcuda() const {
    if (m_seen.libcuda.error != k_not_found) return fmt::format("libcuda.so.1: {}", m_seen.libcuda.error);
    if (m_seen.host == HostKind::wsl) return "libcuda.so.1 not found; under WSL it is in /usr/lib/wsl/lib";
    return "libcuda.so.1 not found; a container lacks it without the driver's compute part "
           "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)";
  }

  // The two parts are there and do not fit.
  std::string misfit() const {
    const bool is_compat = m_seen.init_status == k_cuda_compat_not_supported ||
                           (m_driver.is_newer_cuda && m_seen.nvml_status != k_nvml_library_mismatch);
    if (is_compat) {
      const std::string start =
          fmt::format("forward-compatibility libcuda at {} (CUDA {})", m_seen.libcuda.path, to_text(*m_driver.libcuda));
      if (m_seen.init_status == k_cuda_compat_not_supported)
        return fmt::format("{} does not work on this GPU: error {}", start, *m_seen.init_status);
      if (m_seen.init_status)
        return fmt::format("{} does not work with kernel module {}: error {}", start, kernel_text(),
                           *m_seen.init_status);
      return fmt::format("{} was not seen to work with kernel module {}", start, kernel_text());
    }
    const std::string libraries = m_driver.library ? driver_text(*m_driver.library) : std::string("of another version");
    return fmt::format("{}{}, user libraries {}: reboot or reload the module", k_mismatch_note, kernel_text(),
                       libraries);
  }

  void decide_status() {
    const bool has_libcuda = m_facts.cuda_source == FactSource::libcuda;
    if (has_libcuda || m_driver.kernel || m_seen.has_nvidia_module) {
      m_facts.driver = DriverStatus::present;
      return;
    }
    if (m_seen.has_nouveau) {
      m_facts.driver = DriverStatus::nouveau;
      m_facts.driver_reason = "nouveau drives this card";
      return;
    }
    if (m_seen.libcuda.error == k_not_found && m_seen.nvml.path.empty() && m_seen.host != HostKind::tegra) {
      m_facts.driver = DriverStatus::absent;
      m_facts.driver_reason = m_seen.pci_devices.empty()
                                  ? "no NVIDIA driver found"
                                  : "there is an NVIDIA GPU, but no driver of NVIDIA's is loaded";
      if (m_seen.host == HostKind::wsl) m_facts.driver_reason += "; under WSL it comes from Windows (/usr/lib/wsl/lib)";
      return;
    }
    m_facts.driver = DriverStatus::unknown;
    if (m_facts.driver_reason.empty()) m_facts.driver_reason = unfinished_reason(m_seen);
  }

  void tell_stubs() {
    for (const ObservedLibrary* library : {&m_seen.libcuda, &m_seen.nvml})
      if (!library->stub.empty())
        note(fmt::format("{} is a toolkit's link stub, not the driver; programs that find it first fail with error {}",
                         library->stub, k_cuda_stub_library));
  }

  // Paths, variables and names are somebody else's.
  void make_printable() {
    for (std::string* line : {&m_facts.driver_reason, &m_facts.gpu_reason}) *line = base::escaped(*line);
    for (std::string& line : m_facts.notes) line = base::escaped(line);
    for (Gpu& gpu : m_facts.gpus) gpu.name = base::escaped(gpu.name);
  }

  std::string kernel_text() const { return m_driver.kernel ? driver_text(*m_driver.kernel) : "of unknown version"; }

  void note(std::string text) {
    if (text.empty()) return;
    for (const std::string& known : m_facts.notes)
      if (known == text) return;
    m_facts.notes.push_back(std::move(text));
  }

  const Observation& m_seen;
  const Registry& m_registry;
  ObservedDriver m_driver;
  MachineFacts m_facts;
};

}  // namespace

MachineFacts conclude(const Observation& observation, const Registry& registry) {
  return Conclusion(observation, registry).facts();
}

}  // namespace cudaenv::core
