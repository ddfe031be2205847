// SPDX-License-Identifier: Apache-2.0
#include "core/machine_facts.hpp"

#include <gtest/gtest.h>

#include "core/observation.hpp"
#include "core/version_text.hpp"
#include "registry/builtin.hpp"
#include "unit/core/named_rows.hpp"
#include "unit/core/observations.hpp"

namespace cudaenv::core {
namespace {

using test::facts_of;
using test::healthy;
using test::joined;
using test::refuse_by_nvml;
using test::set_driver;
using test::take_all_away;
using test::take_kernel_away;
using test::take_libcuda_away;
using test::take_nvml_away;
using test::text_of;

// --- The driver ---

struct DriverCase {
  const char* name;
  void (*change)(Observation& seen);
  DriverStatus status;
  const char* cuda;  // "-": unknown
  FactSource source;
  const char* reason = "";  // a part of it
  const char* notes = "";   // all of them, each with a line end
};

class ConcludedDriver : public testing::TestWithParam<DriverCase> {};

TEST_P(ConcludedDriver, is_what_the_parts_can_do_together) {
  Observation seen = healthy();
  GetParam().change(seen);
  const MachineFacts machine = facts_of(seen);
  EXPECT_EQ(machine.driver, GetParam().status);
  EXPECT_EQ(text_of(machine.cuda), GetParam().cuda);
  EXPECT_EQ(machine.cuda_source, GetParam().source);
  EXPECT_EQ(joined(machine.notes), GetParam().notes);
  EXPECT_NE(machine.driver_reason.find(GetParam().reason), std::string::npos) << machine.driver_reason;
  EXPECT_EQ(machine.driver_reason.empty(), machine.cuda.has_value()) << machine.driver_reason;
  EXPECT_FALSE(machine.has_compat_library);
  EXPECT_FALSE(machine.is_described);
  // Rebooting is the cure of that alone.
  EXPECT_EQ(machine.is_out_of_step, joined(machine.notes).find("reboot") != std::string::npos);
}

constexpr const char* k_no_compute_part =
    "libcuda.so.1 not found; a container lacks it without the driver's compute part "
    "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)\n";

INSTANTIATE_TEST_SUITE_P(
    Present, ConcludedDriver,
    testing::Values(
        DriverCase{"healthy", [](Observation&) {}, DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"libcuda_alone_that_works",
                   [](Observation& seen) {
                     take_nvml_away(seen);
                     take_kernel_away(seen);
                     seen.init_status = 0;
                   },
                   DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"older_driver_that_the_table_is_not_sure_of",
                   [](Observation& seen) { set_driver(seen, "430.26", 10020); }, DriverStatus::present, "10.2",
                   FactSource::libcuda},
        DriverCase{"newer_than_the_tables", [](Observation& seen) { set_driver(seen, "990.10", 19000); },
                   DriverStatus::present, "19.0", FactSource::libcuda},
        DriverCase{"DET_04_no_libcuda",
                   [](Observation& seen) {
                     take_libcuda_away(seen);
                     seen.kernel_version = seen.nvml_driver = "455.45.01";
                   },
                   DriverStatus::present, "11.1", FactSource::branch_table, "", k_no_compute_part},
        DriverCase{"DET_04_older_than_the_tables",
                   [](Observation& seen) {
                     take_libcuda_away(seen);
                     seen.kernel_version = seen.nvml_driver = "340.108";
                   },
                   DriverStatus::present, "-", FactSource::nobody, "driver 340.108 is older than the tables",
                   k_no_compute_part},
        DriverCase{"DET_04_version_zero", [](Observation& seen) { seen.version = 0; }, DriverStatus::present, "12.4",
                   FactSource::branch_table, "",
                   "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14 does not tell its CUDA version\n"},
        DriverCase{"DET_04_error_of_the_version", [](Observation& seen) { seen.version_status = 999; },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14 does not tell its CUDA version: error 999\n"},
        DriverCase{"ENV_09_stub",
                   [](Observation& seen) {
                     seen.libcuda.path = "/opt/x/libcuda.so";
                     seen.version_status = 34;
                   },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "/opt/x/libcuda.so is a link stub, not the driver (error 34)\n"},
        DriverCase{"library_that_cannot_be_loaded",
                   [](Observation& seen) {
                     take_libcuda_away(seen);
                     seen.libcuda.error = "/x/libcuda.so.1: invalid ELF header";
                   },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "libcuda.so.1: /x/libcuda.so.1: invalid ELF header\n"},
        DriverCase{"DET_01_libraries_of_the_same_branch",
                   [](Observation& seen) {
                     set_driver(seen, "550.90.07", 12040);
                     seen.libcuda.path = "/usr/lib/libcuda.so.550.107.02";
                     refuse_by_nvml(seen, 18);
                   },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "kernel module 550.90.07, user libraries 550.107.02: reboot or reload the module\n"},
        DriverCase{"DET_01_libraries_of_a_newer_branch",
                   [](Observation& seen) {
                     set_driver(seen, "535.183.01", 12040);
                     refuse_by_nvml(seen, 18);
                     seen.init_status = 803;
                   },
                   DriverStatus::present, "12.2", FactSource::branch_table, "",
                   "kernel module 535.183.01, user libraries 550.107.02: reboot or reload the module\n"},
        DriverCase{"DET_01_seen_by_the_names_alone",
                   [](Observation& seen) {
                     take_nvml_away(seen);
                     seen.libcuda.path = "/usr/lib/libcuda.so.550.107.02";
                     seen.init_status = 803;
                   },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "kernel module 550.54.14, user libraries 550.107.02: reboot or reload the module\n"},
        DriverCase{"DET_01_other_name_that_works_all_the_same",
                   [](Observation& seen) {
                     seen.libcuda.path = "/usr/lib/libcuda.so.550.90.07";
                     seen.init_status = 0;
                   },
                   DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"DRV_05_not_on_this_gpu",
                   [](Observation& seen) {
                     set_driver(seen, "470.57.02", 12010);
                     seen.libcuda.path = "/usr/local/cuda-12.1/compat/libcuda.so.530.30.02";
                     seen.init_status = 804;
                   },
                   DriverStatus::present, "11.4", FactSource::branch_table, "",
                   "forward-compatibility libcuda at /usr/local/cuda-12.1/compat/libcuda.so.530.30.02 (CUDA 12.1) does "
                   "not work on this GPU: error 804\n"},
        DriverCase{
            "DRV_05_not_with_this_module",
            [](Observation& seen) {
              set_driver(seen, "470.57.02", 12010);
              seen.init_status = 803;
            },
            DriverStatus::present, "11.4", FactSource::branch_table, "",
            "forward-compatibility libcuda at /usr/lib/libcuda.so.470.57.02 (CUDA 12.1) does not work with kernel "
            "module 470.57.02: error 803\n"},
        DriverCase{
            "DRV_05_not_proven",
            [](Observation& seen) {
              set_driver(seen, "470.57.02", 12010);
              seen.end = ProbeEnd::timed_out;
              seen.end_number = 10000;
              seen.end_call = "cuInit";
            },
            DriverStatus::present, "11.4", FactSource::branch_table, "",
            "the driver did not answer within 10 s in cuInit\n"
            "forward-compatibility libcuda at /usr/lib/libcuda.so.470.57.02 (CUDA 12.1) was not seen to work with "
            "kernel module 470.57.02\n"},
        DriverCase{"crash_before_the_version",
                   [](Observation& seen) {
                     take_nvml_away(seen);
                     seen.version_status.reset();
                     seen.end = ProbeEnd::killed;
                     seen.end_number = 11;
                     seen.end_call = "cuDriverGetVersion";
                   },
                   DriverStatus::present, "12.4", FactSource::branch_table, "",
                   "the driver's library crashed in cuDriverGetVersion (signal 11)\n"},
        DriverCase{"cuInit_fails_with_a_driver_that_fits",
                   [](Observation& seen) {
                     take_nvml_away(seen);
                     seen.init_status = 999;
                   },
                   DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"DET_07_jetson",
                   [](Observation& seen) {
                     seen.host = HostKind::tegra;
                     set_driver(seen, "540.4.0", 12060);
                     seen.libcuda.path = "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1.1";
                   },
                   DriverStatus::present, "12.6", FactSource::libcuda},
        DriverCase{"DET_07_jetson_without_libcuda",
                   [](Observation& seen) {
                     take_libcuda_away(seen);
                     seen.host = HostKind::tegra;
                     seen.kernel_version = seen.nvml_driver = "540.4.0";
                   },
                   DriverStatus::present, "-", FactSource::nobody, "libcuda.so.1 not found"},
        DriverCase{"DET_09_wsl",
                   [](Observation& seen) {
                     take_kernel_away(seen);
                     seen.host = HostKind::wsl;
                     seen.has_dxg = true;
                     seen.nvml_driver = "551.61";
                     seen.libcuda.path = "/usr/lib/wsl/lib/libcuda.so.1.1";
                   },
                   DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"DET_09_wsl_without_nvml",
                   [](Observation& seen) {
                     take_kernel_away(seen);
                     take_nvml_away(seen);
                     seen.host = HostKind::wsl;
                     seen.has_dxg = true;
                     seen.init_status = 999;
                   },
                   DriverStatus::present, "12.4", FactSource::libcuda},
        DriverCase{"DET_09_wsl_without_libcuda",
                   [](Observation& seen) {
                     take_kernel_away(seen);
                     take_libcuda_away(seen);
                     seen.host = HostKind::wsl;
                     seen.has_dxg = true;
                     seen.nvml_driver = "616.41";
                   },
                   DriverStatus::present, "13.4", FactSource::branch_table, "",
                   "libcuda.so.1 not found; under WSL it is in /usr/lib/wsl/lib\n"}),
    test::RowName());

INSTANTIATE_TEST_SUITE_P(
    Absent, ConcludedDriver,
    testing::Values(
        DriverCase{"DET_11_nothing", take_all_away, DriverStatus::absent, "-", FactSource::nobody,
                   "no NVIDIA driver found"},
        DriverCase{"DET_09_wsl_without_nvidia",
                   [](Observation& seen) {
                     take_all_away(seen);
                     seen.host = HostKind::wsl;
                     seen.has_dxg = true;
                   },
                   DriverStatus::absent, "-", FactSource::nobody, "under WSL it comes from Windows"},
        DriverCase{"DET_13_nouveau",
                   [](Observation& seen) {
                     take_all_away(seen);
                     seen.has_nouveau = true;
                   },
                   DriverStatus::nouveau, "-", FactSource::nobody, "nouveau drives this card"},
        DriverCase{"DET_13_nouveau_with_libraries_installed",
                   [](Observation& seen) {
                     take_kernel_away(seen);
                     refuse_by_nvml(seen, 9);
                     seen.has_nouveau = true;
                     seen.init_status = 100;
                   },
                   DriverStatus::nouveau, "-", FactSource::nobody, "nouveau drives this card"},
        DriverCase{"SYS_06_libraries_without_a_module",
                   [](Observation& seen) {
                     take_kernel_away(seen);
                     refuse_by_nvml(seen, 9);
                     seen.init_status = 100;
                   },
                   DriverStatus::unknown, "-", FactSource::nobody,
                   "(CUDA 12.4) is there, but the driver's kernel module is not"},
        DriverCase{"card_without_a_driver",
                   [](Observation& seen) {
                     take_all_away(seen);
                     seen.pci_devices = {0x2684};
                   },
                   DriverStatus::absent, "-", FactSource::nobody,
                   "there is an NVIDIA GPU, but no driver of NVIDIA's is loaded"},
        DriverCase{"DET_13_card_with_nouveau",
                   [](Observation& seen) {
                     take_all_away(seen);
                     seen.has_nouveau = true;
                     seen.pci_devices = {0x2684};
                   },
                   DriverStatus::nouveau, "-", FactSource::nobody, "nouveau drives this card"},
        DriverCase{"ENV_09_stub_alone",
                   [](Observation& seen) {
                     take_all_away(seen);
                     seen.libcuda.stub = "/cuda/lib64/stubs/libcuda.so";
                   },
                   DriverStatus::absent, "-", FactSource::nobody, "no NVIDIA driver found",
                   "/cuda/lib64/stubs/libcuda.so is a toolkit's link stub, not the driver; programs that find it first "
                   "fail with error 34\n"},
        DriverCase{"not_asked", [](Observation& seen) { seen = {}; }, DriverStatus::unknown, "-", FactSource::nobody,
                   "could not be asked", "the driver's libraries could not be asked\n"},
        DriverCase{"hang_with_nothing_known",
                   [](Observation& seen) {
                     seen = {};
                     seen.end = ProbeEnd::timed_out;
                     seen.end_number = 1500;
                     seen.end_call = "dlopen(libcuda.so.1)";
                   },
                   DriverStatus::unknown, "-", FactSource::nobody, "within 1.5 s in dlopen(libcuda.so.1)",
                   "the driver did not answer within 1.5 s in dlopen(libcuda.so.1)\n"}),
    test::RowName());

TEST(ConcludedDriver, DET_01_out_of_step_until_the_reboot) {
  EXPECT_FALSE(facts_of(healthy()).is_out_of_step);
  Observation seen = healthy();
  set_driver(seen, "535.183.01", 12040);
  refuse_by_nvml(seen, 18);
  seen.init_status = 803;
  EXPECT_TRUE(facts_of(seen).is_out_of_step);
  // Not where the card has no NVIDIA driver's part at all, nor for a compat library that does not work.
  seen = healthy();
  set_driver(seen, "470.57.02", 12010);
  seen.init_status = 804;
  EXPECT_FALSE(facts_of(seen).is_out_of_step);
  take_all_away(seen);
  EXPECT_FALSE(facts_of(seen).is_out_of_step);
}

TEST(ConcludedDriver, DRV_05_compat_library_that_works) {
  Observation seen = healthy();
  set_driver(seen, "535.129.03", 12040);
  seen.libcuda.path = "/compat/libcuda.so.550.54.15";
  seen.init_status = 0;
  const MachineFacts machine = facts_of(seen);
  EXPECT_TRUE(machine.has_compat_library);
  EXPECT_EQ(machine.cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.libcuda_cuda, (Minor{12, 4}));
  EXPECT_EQ(machine.libcuda, "/compat/libcuda.so.550.54.15");
  EXPECT_EQ(joined(machine.notes),
            "forward-compatibility libcuda in use: /compat/libcuda.so.550.54.15 brings CUDA 12.4 to kernel module "
            "535.129.03\n");
}

TEST(ConcludedDriver, DRV_05_keeps_what_the_compat_library_reported) {
  Observation seen = healthy();
  seen.version = 13000;
  seen.init_status = 804;
  EXPECT_EQ(facts_of(seen).libcuda_cuda, (Minor{13, 0}));
  EXPECT_EQ(facts_of(seen).cuda, (Minor{12, 4}));
}

TEST(ConcludedDriver, number_newer_than_the_tables_means_at_least) {
  Observation seen = healthy();
  take_libcuda_away(seen);
  seen.kernel_version = seen.nvml_driver = "990.10";
  EXPECT_TRUE(facts_of(seen).is_cuda_at_least);
  EXPECT_EQ(facts_of(seen).cuda, (Minor{registry::builtin().driver_branches.back().cuda_major,
                                        registry::builtin().driver_branches.back().cuda_minor}));
  seen.kernel_version = seen.nvml_driver = "430.26";
  EXPECT_TRUE(facts_of(seen).is_cuda_at_least);
  seen.kernel_version = seen.nvml_driver = "550.54.14";
  EXPECT_FALSE(facts_of(seen).is_cuda_at_least);
}

TEST(ConcludedDriver, kernel_version_comes_from_nvml_before_files) {
  Observation seen = healthy();
  EXPECT_EQ(facts_of(seen).kernel_version_source, FactSource::nvml);
  take_nvml_away(seen);
  EXPECT_EQ(facts_of(seen).kernel_version_source, FactSource::kernel_files);
  EXPECT_EQ(facts_of(seen).kernel_version, parse_dotted_version("550.54.14"));
}

}  // namespace
}  // namespace cudaenv::core
