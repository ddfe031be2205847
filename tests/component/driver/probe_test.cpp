// SPDX-License-Identifier: Apache-2.0
#include "driver/probe.hpp"

#include <filesystem>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "component/driver/fake_machine.hpp"

namespace cudaenv::driver {
namespace {

using core::ComputeCapability;
using core::DriverStatus;
using core::FactSource;
using core::GpuStatus;
using core::HostKind;
using core::Minor;
using core::ProbeEnd;
using test::all_of;

using namespace std::string_view_literals;

class Probe : public test::FakeMachine {};

TEST_F(Probe, tells_driver_and_gpus_of_an_ordinary_machine) {
  driver("550.54.14", 12040, 2);
  gpu(0, "NVIDIA L40S", "8.9");
  gpu(1, "Tesla T4", "7.5");
  const core::Observation seen = observe();
  EXPECT_EQ(seen.end, ProbeEnd::finished);
  EXPECT_EQ(seen.end_call, "");
  EXPECT_EQ(seen.kernel_version, "550.54.14");
  EXPECT_EQ(seen.kernel_version_file, "/proc/driver/nvidia/version");
  EXPECT_TRUE(seen.has_nvidia_module);
  EXPECT_EQ(seen.libcuda.path, (m_driver / "libcuda.so.550.54.14").native());
  EXPECT_EQ(seen.version, 12040);
  EXPECT_EQ(seen.nvml.path, (m_driver / "libnvidia-ml.so.550.54.14").native());
  EXPECT_EQ(seen.nvml_driver, "550.54.14");
  ASSERT_EQ(seen.nvml_gpus.size(), 2U);
  EXPECT_EQ(seen.nvml_gpus[0].name, "NVIDIA L40S");
  EXPECT_EQ(seen.nvml_gpus[0].uuid, uuid(0));
  EXPECT_EQ(seen.nvml_gpus[1].index, 1U);
  EXPECT_EQ(seen.nvml_gpus[1].capability, (ComputeCapability{7, 5}));
  EXPECT_FALSE(seen.nvml_gpus[1].has_mig);
  EXPECT_TRUE(is_settled(seen));
}

TEST_F(Probe, does_not_initialise_cuda_where_nvml_answers) {
  driver("550.54.14", 12040, 1);
  gpu(0, "Tesla T4", "7.5");
  m_environment.set("CUDA_VISIBLE_DEVICES", "0");
  EXPECT_FALSE(observe().init_status);
  EXPECT_FALSE(was_called("cuInit"));
  EXPECT_TRUE(was_called("cuDriverGetVersion"));
}

TEST_F(Probe, leaves_the_settings_of_this_process_alone) {
  driver("550.54.14", 12040, 0);
  m_environment.set("CUDA_VISIBLE_DEVICES", "7");
  observe();
  EXPECT_EQ(std::getenv("CUDA_VISIBLE_DEVICES"), nullptr);
  EXPECT_EQ(::dlopen((m_driver / "libcuda.so.1").c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

// --- What lies in the way of an answer ---

TEST_F(Probe, DET_01_user_libraries_newer_than_the_kernel_module) {
  driver("550.90.07", 12040, 1);
  gpu(0, "Tesla T4", "7.5");
  m_driver = m_scratch.directory("upgraded");
  m_environment.set("CUDAENV_DRIVER_PATH", m_driver.native());
  libcuda("550.107.02");
  nvml("550.107.02");
  scenario({"nvmlInit_v2.status 18", "cuInit.status 803"});
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::present);
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::branch_table);
  EXPECT_EQ(machine.kernel_version_source, FactSource::kernel_files);
  EXPECT_EQ(all_of(machine.notes), "kernel module 550.90.07, user libraries 550.107.02: reboot or reload the module\n");
  EXPECT_EQ(machine.gpu_status, GpuStatus::unknown);
  EXPECT_FALSE(is_settled(observe()));
}

TEST_F(Probe, DET_03_nvidia_smi_is_not_started) {
  driver("610.43.02", 13030, 1);
  gpu(0, "Tesla T4", "7.5");
  const base::Path bin = m_scratch.directory("bin");
  std::ofstream(bin / "nvidia-smi") << "#!/bin/sh\ntouch '" << (m_scratch / "started").native() << "'\n";
  std::filesystem::permissions(bin / "nvidia-smi", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", (bin.native() + ":" + path).c_str(), 1), 0);
  EXPECT_EQ(facts().cuda, (Minor{13, 3}));
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  EXPECT_FALSE(base::path_exists(m_scratch / "started"));
}

TEST_F(Probe, DET_04_container_without_the_compute_part) {
  kernel_module("455.45.01");
  nvml("455.45.01");
  scenario({"driver 455.45.01", "gpus 1"});
  gpu(0, "Tesla P100-PCIE-16GB", "6.0");
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.cuda, (Minor{11, 1}));
  EXPECT_EQ(machine.cuda_source, FactSource::branch_table);
  EXPECT_FALSE(machine.is_cuda_at_least);
  EXPECT_NE(all_of(machine.notes).find("libcuda.so.1 not found"), std::string::npos) << all_of(machine.notes);
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].capability, (ComputeCapability{6, 0}));
}

TEST_F(Probe, DET_07_jetson_without_nvml) {
  const base::Path tegra = host("/usr/lib/aarch64-linux-gnu/tegra");
  library("libcuda", "1.1", tegra);
  file("/sys/devices/soc0/family", "Tegra\n");
  scenario({"version 11040", "gpus 1"});
  gpu(0, "Orin", "8.7");
  write_scenario(tegra);
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.host, HostKind::tegra);
  EXPECT_EQ(machine.cuda, (Minor{11, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::libcuda);
  EXPECT_EQ(machine.libcuda, (tegra / "libcuda.so.1.1").native());
  EXPECT_EQ(machine.gpu_source, FactSource::libcuda);
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].capability, (ComputeCapability{8, 7}));
  EXPECT_EQ(all_of(machine.notes), "");
  EXPECT_TRUE(is_settled(observe()));
}

TEST_F(Probe, DET_07_jetson_whose_libcuda_has_only_the_number_1_1) {
  const base::Path tegra = host("/usr/lib/aarch64-linux-gnu/tegra");
  library("libcuda", "1.1", tegra);
  ASSERT_TRUE(base::remove_tree(tegra / "libcuda.so.1"));
  file("/etc/nv_tegra_release");
  scenario({"version 11040", "gpus 1"});
  gpu(0, "Xavier", "7.2");
  write_scenario(tegra);
  EXPECT_EQ(facts().cuda, (Minor{11, 4}));
}

TEST_F(Probe, DET_07_the_driver_number_of_a_jetson_says_nothing) {
  kernel_module("540.4.0");
  file("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.0\n");
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::present);
  EXPECT_FALSE(machine.cuda);
  EXPECT_NE(machine.driver_reason, "");
}

struct Sign {
  const char* name;
  const char* file;
  const char* content;
  HostKind host;
};

class HostSign : public Probe, public testing::WithParamInterface<Sign> {};

TEST_P(HostSign, is_seen) {
  file(GetParam().file, GetParam().content);
  EXPECT_EQ(observe().host, GetParam().host);
}

INSTANTIATE_TEST_SUITE_P(
    Files, HostSign,
    testing::Values(
        Sign{"DET_07_tegra_release", "/etc/nv_tegra_release", "# R35\n", HostKind::tegra},
        Sign{"DET_07_tegra_soc", "/sys/devices/soc0/family", "Tegra\n", HostKind::tegra},
        Sign{"DET_07_other_soc", "/sys/devices/soc0/family", "Snapdragon\n", HostKind::plain},
        Sign{"DET_07_tegra_library", "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", "", HostKind::tegra},
        Sign{"DET_09_wsl_device", "/dev/dxg", "", HostKind::wsl},
        Sign{"DET_09_wsl_kernel", "/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n", HostKind::wsl},
        Sign{"DET_09_wsl_version", "/proc/version", "Linux version 4.4.0-19041-Microsoft (x)\n", HostKind::wsl},
        Sign{"plain_kernel", "/proc/sys/kernel/osrelease", "6.8.0-45-generic\n", HostKind::plain}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Probe, DET_07_tegra_in_the_device_tree_after_other_names) {
  file("/proc/device-tree/compatible", "nvidia,p3701\0nvidia,tegra234\0"sv);
  EXPECT_EQ(observe().host, HostKind::tegra);
}

TEST_F(Probe, DET_09_wsl_has_everything_in_one_directory) {
  const base::Path wsl = host("/usr/lib/wsl/lib");
  library("libcuda", "1.1", wsl);
  library("libnvidia-ml", "1", wsl);
  file("/dev/dxg");
  scenario({"driver 551.61", "version 12040", "gpus 1"});
  gpu(0, "NVIDIA GeForce RTX 4090", "8.9");
  write_scenario(wsl);
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.host, HostKind::wsl);
  EXPECT_EQ(machine.driver, DriverStatus::present);
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::libcuda);
  EXPECT_EQ(machine.kernel_version, core::parse_dotted_version("551.61"));
  EXPECT_EQ(machine.kernel_version_source, FactSource::nvml);
  EXPECT_EQ(all_of(machine.notes), "");
  EXPECT_TRUE(is_settled(observe()));
}

TEST_F(Probe, DET_09_the_bare_name_is_never_opened) {
  library("libcuda", "550.54.14", m_scratch / "elsewhere");
  ASSERT_TRUE(base::make_link(m_scratch / "elsewhere" / "libcuda.so.550.54.14", m_driver / "libcuda.so"));
  EXPECT_EQ(observe().libcuda.path, "");
  EXPECT_FALSE(base::path_exists(m_scratch / "calls"));
}

TEST_F(Probe, DET_11_nothing_of_a_driver) {
  const core::Observation seen = observe();
  EXPECT_EQ(seen.end, ProbeEnd::finished);
  EXPECT_EQ(seen.libcuda.error, core::k_not_found);
  EXPECT_TRUE(is_settled(seen));
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::absent);
  EXPECT_EQ(machine.driver_reason, "no NVIDIA driver found");
  EXPECT_EQ(all_of(machine.notes), "");
}

TEST_F(Probe, SYS_06_login_node_with_libraries_and_no_module) {
  libcuda("470.57.02");
  nvml("470.57.02");
  scenario({"version 11040", "nvmlInit_v2.status 9"});
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::unknown);
  EXPECT_FALSE(machine.cuda);
  EXPECT_EQ(machine.libcuda_cuda, (Minor{11, 4}));
  EXPECT_NE(machine.driver_reason.find("kernel module is not"), std::string::npos) << machine.driver_reason;
  EXPECT_TRUE(is_settled(observe()));
}

TEST_F(Probe, DET_13_module_loaded_and_no_device) {
  driver("440.82", 10020, 0);
  pci_device("0000:01:00.0", "1f11");
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::present);
  EXPECT_EQ(machine.cuda, (Minor{10, 2}));
  EXPECT_EQ(machine.gpu_status, GpuStatus::none);
  EXPECT_EQ(machine.gpu_reason, "driver 440.82 loaded, no device visible (power saving or PRIME profile?)");
  EXPECT_FALSE(is_settled(observe()));
}

TEST_F(Probe, DET_13_nouveau_owns_the_card) {
  file("/sys/module/nouveau/initstate", "live\n");
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::nouveau);
  EXPECT_EQ(machine.driver_reason, "nouveau drives this card");
}

TEST_F(Probe, only_display_controllers_of_nvidia_are_taken_from_the_bus) {
  pci_device("0000:01:00.0", "2684");
  pci_device("0000:01:00.1", "22ba", "10de", "040300");  // its sound device
  pci_device("0000:02:00.0", "2330", "10de", "030200");
  pci_device("0000:03:00.0", "1638", "1002");
  EXPECT_EQ(observe().pci_devices, (std::vector<std::uint16_t>{0x2684, 0x2330}));
}

// --- Forward compatibility ---

TEST_F(Probe, DRV_05_compat_library_that_the_gpu_does_not_take) {
  driver("470.57.02", 12010, 1);
  gpu(0, "NVIDIA GeForce RTX 2080", "7.5");
  const base::Path compat = library("libcuda", "530.30.02", m_scratch / "cuda-12.1" / "compat");
  m_environment.set("CUDAENV_DRIVER_PATH", compat.parent_path().native() + ":" + m_driver.native());
  scenario({"cuInit.status 804"});
  write_scenario(compat.parent_path());
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.cuda, (Minor{11, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::branch_table);
  EXPECT_EQ(machine.libcuda_cuda, (Minor{12, 1}));
  EXPECT_FALSE(machine.has_compat_library);
  EXPECT_EQ(all_of(machine.notes), "forward-compatibility libcuda at " + compat.native() +
                                       " (CUDA 12.1) does not work on this GPU: error 804\n");
  EXPECT_EQ(machine.gpu_status, GpuStatus::known);
  EXPECT_TRUE(is_settled(observe()));
}

TEST_F(Probe, DRV_05_compat_library_that_works) {
  driver("535.129.03", 12020, 1);
  gpu(0, "NVIDIA H100 80GB HBM3", "9.0");
  const base::Path compat = library("libcuda", "550.54.15", m_scratch / "cuda-12.4" / "compat");
  m_environment.set("CUDAENV_DRIVER_PATH", compat.parent_path().native() + ":" + m_driver.native());
  std::ofstream(compat.parent_path() / "scenario") << "version 12040\ngpus 1\ngpu.0.uuid " << uuid(0) << "\n";
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_TRUE(machine.has_compat_library);
  EXPECT_EQ(machine.kernel_version, core::parse_dotted_version("535.129.03"));
  EXPECT_NE(all_of(machine.notes).find("forward-compatibility libcuda in use"), std::string::npos);
}

TEST_F(Probe, DRV_05_plain_old_driver) {
  driver("470.57.02", 11040, 1);
  gpu(0, "NVIDIA GeForce RTX 2080", "7.5");
  EXPECT_EQ(facts().cuda, (Minor{11, 4}));
  EXPECT_FALSE(was_called("cuInit"));
}

// --- Stubs ---

TEST_F(Probe, ENV_09_link_to_a_stub_is_passed_over_uncalled) {
  const base::Path stub = library("libcuda", "1", m_scratch / "cuda" / "lib64" / "stubs");
  write_scenario(stub.parent_path());
  ASSERT_TRUE(base::make_link(stub, m_driver / "libcuda.so.1"));
  const core::Observation seen = observe();
  EXPECT_EQ(seen.libcuda.stub, stub.native());
  EXPECT_EQ(seen.libcuda.path, "");
  EXPECT_FALSE(base::path_exists(m_scratch / "calls"));
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.driver, DriverStatus::absent);
  EXPECT_NE(all_of(machine.notes).find(stub.native()), std::string::npos);
}

TEST_F(Probe, ENV_09_stub_before_the_real_one) {
  const base::Path stub = library("libcuda", "1", m_scratch / "stubs");
  driver("550.54.14", 12040, 1);
  gpu(0, "Tesla T4", "7.5");
  m_environment.set("CUDAENV_DRIVER_PATH", stub.parent_path().native() + ":" + m_driver.native());
  const core::Observation seen = observe();
  EXPECT_EQ(seen.libcuda.stub, stub.native());
  EXPECT_EQ(seen.version, 12040);
}

TEST_F(Probe, ENV_09_stub_under_another_name_answers_34) {
  kernel_module("550.54.14");
  libcuda("1");
  scenario({"cuDriverGetVersion.status 34"});
  const core::MachineFacts machine = facts();
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::branch_table);
  EXPECT_FALSE(machine.libcuda_cuda);
  EXPECT_NE(all_of(machine.notes).find("is a link stub"), std::string::npos) << all_of(machine.notes);
}

// --- The search ---

TEST_F(Probe, file_that_cannot_be_loaded_is_an_answer) {
  kernel_module("550.54.14");
  std::ofstream(m_driver / "libcuda.so.1") << "not a library";
  library("libcuda", "550.54.14", host("/usr/lib/x86_64-linux-gnu"));
  const core::Observation seen = observe();
  EXPECT_EQ(seen.libcuda.path, "");
  EXPECT_NE(seen.libcuda.error.find((m_driver / "libcuda.so.1").native()), std::string::npos) << seen.libcuda.error;
}

TEST_F(Probe, first_directory_that_has_it_wins) {
  const base::Path first = library("libcuda", "570.26", m_scratch / "first");
  libcuda("550.54.14");
  m_environment.set("CUDAENV_DRIVER_PATH",
                    (m_scratch / "none").native() + "::" + first.parent_path().native() + ":" + m_driver.native());
  EXPECT_EQ(observe().libcuda.path, first.native());
}

TEST_F(Probe, library_of_the_nixos_place) {
  m_environment.unset("CUDAENV_DRIVER_PATH");
  const base::Path nixos = library("libcuda", "550.54.14", host("/run/opengl-driver/lib"));
  EXPECT_EQ(observe().libcuda.path, nixos.native());
}

// In a process of its own, since what is loaded once is what the loader finds by its SONAME.
TEST_F(Probe, without_a_host_root_the_loader_is_asked_by_soname) {
  libcuda("550.54.14");
  write_scenario(m_driver);
  m_environment = {};
  const pid_t child = ::fork();
  if (child == 0) {
    if (!::dlopen((m_driver / "libcuda.so.1").c_str(), RTLD_NOW)) ::_exit(2);
    const core::Observation seen = driver::observe(m_environment, registry::builtin());
    ::_exit(seen.libcuda.path == (m_driver / "libcuda.so.550.54.14").native() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cudaenv::driver
