// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/environment.hpp"
#include "component/redist/scratch.hpp"
#include "core/observation.hpp"
#include "driver/probe.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::test {

// A machine with libraries of the test's own, which answer what is in their scenario (tests/support/sample/driver.c),
// and kernel files below a root of its own. Libraries are looked for below that root and in `m_driver` only.
class FakeMachine : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    s_built = std::make_unique<Scratch>();
    s_has_libraries = build("libcuda", "LIBCUDA") && build("libnvidia-ml", "NVML");
  }
  static void TearDownTestSuite() { s_built.reset(); }

  void SetUp() override {
    if (!s_has_libraries) GTEST_SKIP() << "no C compiler (cc) for the fake driver";
    m_scratch.directory("host");
    m_driver = m_scratch.directory("driver");
    m_environment.set("CUDAENV_HOST_ROOT", host("").native());
    m_environment.set("CUDAENV_DRIVER_PATH", m_driver.native());
    scenario({"log " + (m_scratch / "calls").native()});
  }

  base::Path host(std::string_view path) const { return (m_scratch / "host").native() + std::string(path); }

  // A file of the host.
  void file(std::string_view path, std::string_view content = "") const {
    EXPECT_TRUE(base::make_directories(host(path).parent_path()));
    std::ofstream(host(path), std::ios::binary) << content;
  }
  void kernel_module(std::string_view version) const {
    file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + std::string(version) +
                                            "  Thu Feb 22 01:44:30 UTC 2024\nGCC version:  gcc version 12.2.0\n");
    file("/sys/module/nvidia/version", std::string(version) + "\n");
  }
  void pci_device(std::string_view place, std::string_view device, std::string_view vendor = "10de",
                  std::string_view pci_class = "030000") const {
    const std::string directory = "/sys/bus/pci/devices/" + std::string(place) + "/";
    file(directory + "vendor", "0x" + std::string(vendor) + "\n");
    file(directory + "device", "0x" + std::string(device) + "\n");
    file(directory + "class", "0x" + std::string(pci_class) + "\n");
  }

  // Lines for the libraries; they add up.
  void scenario(std::initializer_list<std::string> lines) {
    for (const std::string& line : lines) m_scenario += line + "\n";
  }
  void gpu(int number, std::string_view name, std::string_view capability) {
    const std::string key = "gpu." + std::to_string(number) + ".";
    scenario({key + "name " + std::string(name), key + "capability " + std::string(capability),
              key + "uuid " + uuid(number)});
  }
  static std::string uuid(int number) {
    return "GPU-0000000" + std::to_string(number) + "-0000-4000-8000-0123456789ab";
  }

  // NAME.so.VERSION, and the link NAME.so.1 to it, as drivers are installed; without some functions, whose names are
  // spoilt in its table of symbols.
  base::Path library(std::string_view name, std::string_view version, const base::Path& directory,
                     std::initializer_list<std::string_view> without = {}) const {
    EXPECT_TRUE(base::make_directories(directory));
    std::string content = content_of(*s_built / name);
    for (const std::string_view function : without) {
      const std::string symbol = '\0' + std::string(function) + '\0';
      const std::size_t at = content.find(symbol);
      EXPECT_NE(at, std::string::npos) << function;
      if (at != std::string::npos) content[at + 1] = 'x';
    }
    const base::Path file = directory / (std::string(name) + ".so." + std::string(version));
    std::ofstream(file, std::ios::binary) << content;
    const base::Path link = directory / (std::string(name) + ".so.1");
    if (link != file) {
      EXPECT_TRUE(base::make_link(file.filename(), link));
    }
    return file;
  }
  void libcuda(std::string_view version) const { library("libcuda", version, m_driver); }
  void nvml(std::string_view version) const { library("libnvidia-ml", version, m_driver); }
  // All parts of a driver, of one version.
  void driver(const std::string& version, int cuda, int gpus) {
    kernel_module(version);
    libcuda(version);
    nvml(version);
    scenario({"driver " + version, "version " + std::to_string(cuda), "gpus " + std::to_string(gpus)});
  }

  core::Observation observe(std::chrono::milliseconds deadline = driver::k_deadline) const {
    write_scenario(m_driver);
    return driver::observe(m_environment, registry::builtin(), deadline);
  }
  core::MachineFacts facts() const { return core::conclude(observe(), registry::builtin()); }
  void write_scenario(const base::Path& directory) const { std::ofstream(directory / "scenario") << m_scenario; }

  // What the libraries were asked, one name a line.
  std::string calls() const { return content_of(m_scratch / "calls"); }
  bool was_called(std::string_view function) const {
    std::istringstream lines(calls());
    for (std::string line; std::getline(lines, line);)
      if (line == function) return true;
    return false;
  }

  Scratch m_scratch;
  base::Path m_driver;
  base::Environment m_environment;

 private:
  static bool build(const std::string& name, const std::string& macro) {
    const std::string command = "cc -shared -fPIC -O1 -D" + macro + " -Wl,-soname," + name + ".so.1 -o '" +
                                (*s_built / name).native() + "' '" CUDAENV_SOURCE_DIR "/tests/support/sample/driver.c'";
    return std::system(command.c_str()) == 0;
  }

  std::string m_scenario;

  static inline std::unique_ptr<Scratch> s_built;
  static inline bool s_has_libraries = false;
};

inline std::string all_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace cudaenv::test
