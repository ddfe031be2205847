// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

#include <sys/wait.h>

#include "component/driver/fake_machine.hpp"

// Libraries that hang, crash, are too old or answer nonsense.

namespace cudaenv::driver {
namespace {

using core::ComputeCapability;
using core::FactSource;
using core::GpuStatus;
using core::Minor;
using core::ProbeEnd;
using std::chrono::milliseconds;

class ProbeTrouble : public test::FakeMachine {};

// --- Trouble inside the libraries ---

struct Trouble {
  const char* name;
  const char* scenario;
  ProbeEnd end;
  int number;
  const char* call;
};

class TroubleIn : public ProbeTrouble, public testing::WithParamInterface<Trouble> {};

TEST_P(TroubleIn, a_call_ends_the_probe_and_keeps_what_was_learnt) {
  driver("550.54.14", 12040, 1);
  gpu(0, "Tesla T4", "7.5");
  scenario({GetParam().scenario});
  const bool is_hanging = GetParam().end == ProbeEnd::timed_out;
  const auto start = std::chrono::steady_clock::now();
  const core::Observation seen = observe(is_hanging ? milliseconds(GetParam().number) : k_deadline);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(seen.end, GetParam().end);
  EXPECT_EQ(seen.end_number, GetParam().number);
  EXPECT_EQ(seen.end_call, GetParam().call);
  EXPECT_FALSE(is_settled(seen));
  EXPECT_EQ(seen.kernel_version, "550.54.14");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
  EXPECT_EQ(errno, ECHILD);
  // What the number of the driver stands for, whether libcuda had told it or not.
  const core::MachineFacts machine = conclude(seen, registry::builtin());
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.gpu_status, GpuStatus::unknown);
  EXPECT_NE(machine.gpu_reason.find(GetParam().call), std::string::npos) << machine.gpu_reason;
}

INSTANTIATE_TEST_SUITE_P(
    Calls, TroubleIn,
    testing::Values(
        Trouble{"hang_in_libcuda", "cuDriverGetVersion.end hang", ProbeEnd::timed_out, 300, "cuDriverGetVersion"},
        Trouble{"hang_in_nvml", "nvmlInit_v2.end hang", ProbeEnd::timed_out, 300, "nvmlInit_v2"},
        Trouble{"hang_at_a_gpu", "nvmlDeviceGetName.end hang", ProbeEnd::timed_out, 300, "nvmlDeviceGetName"},
        Trouble{"crash_in_libcuda", "cuDriverGetVersion.end crash", ProbeEnd::killed, SIGABRT, "cuDriverGetVersion"},
        Trouble{"crash_in_nvml", "nvmlInit_v2.end crash", ProbeEnd::killed, SIGABRT, "nvmlInit_v2"},
        Trouble{"exit_in_nvml", "nvmlDeviceGetCount_v2.end exit", ProbeEnd::exited, 7, "nvmlDeviceGetCount_v2"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(ProbeTrouble, crash_leaves_no_core_file) {
  driver("550.54.14", 12040, 1);
  scenario({"cuDriverGetVersion.end crash"});
  const base::Path directory = m_scratch.directory("work");
  const base::Path before = std::filesystem::current_path();
  std::filesystem::current_path(directory);
  observe();
  std::filesystem::current_path(before);
  EXPECT_TRUE(base::list_directory(directory)->empty());
}

TEST_F(ProbeTrouble, hang_in_cuInit_after_nvml_told_nothing) {
  driver("550.54.14", 12040, 1);
  scenario({"nvmlInit_v2.status 999", "cuInit.end hang"});
  const core::Observation seen = observe(milliseconds(300));
  EXPECT_EQ(seen.end_call, "cuInit");
  const core::MachineFacts machine = conclude(seen, registry::builtin());
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.cuda_source, FactSource::libcuda);
  EXPECT_EQ(machine.gpu_reason, "the driver did not answer within 0.3 s in cuInit");
}

// --- Old libraries, and broken ones ---

TEST_F(ProbeTrouble, nvml_without_capabilities_leaves_them_to_libcuda) {
  driver("410.48", 10000, 1);
  gpu(0, "Tesla V100-SXM2-16GB", "7.0");
  library("libnvidia-ml", "1", m_scratch / "old", {"nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetMigMode"});
  write_scenario(m_scratch / "old");
  m_environment.set("CUDAENV_DRIVER_PATH", (m_scratch / "old").native() + ":" + m_driver.native());
  const core::MachineFacts machine = facts();
  EXPECT_TRUE(was_called("cuInit"));
  EXPECT_EQ(machine.gpu_source, FactSource::nvml);
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].capability, (ComputeCapability{7, 0}));
}

TEST_F(ProbeTrouble, libcuda_without_uuids) {
  kernel_module("390.157");
  library("libcuda", "390.157", m_driver, {"cuDeviceGetUuid"});
  scenario({"version 9010", "gpus 1"});
  gpu(0, "GeForce GTX 1080", "6.1");
  const core::MachineFacts machine = facts();
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].uuid, "");
  EXPECT_EQ(machine.gpus[0].capability, (ComputeCapability{6, 1}));
}

TEST_F(ProbeTrouble, libraries_without_their_first_functions) {
  kernel_module("550.54.14");
  library("libcuda", "550.54.14", m_driver, {"cuDriverGetVersion"});
  library("libnvidia-ml", "550.54.14", m_driver, {"nvmlInit_v2"});
  const core::Observation seen = observe();
  EXPECT_EQ(seen.end, ProbeEnd::finished);
  EXPECT_FALSE(seen.version_status);
  EXPECT_FALSE(seen.nvml_status);
  EXPECT_EQ(facts().cuda, (Minor{12, 4}));
}

TEST_F(ProbeTrouble, version_zero_is_not_a_version) {
  driver("550.54.14", 0, 0);
  EXPECT_EQ(facts().cuda, (Minor{12, 4}));
  EXPECT_EQ(facts().cuda_source, FactSource::branch_table);
}

TEST_F(ProbeTrouble, lost_gpu_is_still_counted) {
  driver("550.54.14", 12040, 2);
  gpu(0, "Tesla T4", "7.5");
  scenario({"gpu.1.lost 1"});
  const core::Observation seen = observe();
  ASSERT_EQ(seen.nvml_gpus.size(), 2U);
  EXPECT_EQ(seen.nvml_gpus[1].index, 1U);
  EXPECT_FALSE(seen.nvml_gpus[1].capability);
  EXPECT_FALSE(is_settled(seen));
}

TEST_F(ProbeTrouble, name_with_a_line_end_makes_no_line) {
  driver("550.54.14", 12040, 1);
  gpu(0, "Tesla\tT4 \x01\xff%41", "7.5");
  EXPECT_EQ(observe().nvml_gpus.at(0).name, "Tesla\tT4 \x01\xff%41");
}

}  // namespace
}  // namespace cudaenv::driver
