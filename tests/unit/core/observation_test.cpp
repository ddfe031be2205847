// SPDX-License-Identifier: Apache-2.0
#include "core/observation.hpp"

#include <gtest/gtest.h>

#include "registry/builtin.hpp"
#include "unit/core/named_rows.hpp"
#include "unit/core/observations.hpp"

namespace cudaenv::core {
namespace {

using test::healthy;
using test::observed_gpu;

// Everything that an observation can hold, with values that are hard to write down.
Observation full() {
  Observation seen;
  seen.host = HostKind::wsl;
  seen.kernel_version = "550.54.14 ";
  seen.kernel_version_file = "/a dir/\nversion";
  seen.has_nvidia_module = seen.has_nouveau = seen.has_dxg = true;
  seen.pci_devices = {0x2684, 0x0001, 0xffff};
  seen.visible_devices = "";
  seen.device_order = "PCI_BUS_ID\n";
  seen.libcuda = {"/usr/lib/libcuda.so.550.54.14", "50% \x01\x7f\xff", "/stubs/libcuda.so"};
  seen.version_status = 0;
  seen.version = 12040;
  seen.init_status = -1;
  seen.cuda_count = 1;
  seen.cuda_gpus = {{0, "", "", std::nullopt, false, {}}};
  seen.nvml = {"/n", "", ""};
  seen.nvml_status = 999;
  seen.nvml_driver = "550.54.14";
  seen.nvml_count = 4294967295U;
  seen.nvml_gpus = {{0, "NVIDIA A100\nend finished 0", "GPU-1", ComputeCapability{8, 0}, true, {"MIG-1", "MIG 2"}},
                    {7, "-", "-", ComputeCapability{12, 1}, false, {}}};
  seen.end = ProbeEnd::killed;
  seen.end_number = 11;
  seen.end_call = "cuInit";
  return seen;
}

TEST(ObservationText, reads_what_it_writes) {
  const std::string text = to_text(full());
  const auto read = parse_observation(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), text);
  EXPECT_EQ(read->host, HostKind::wsl);
  EXPECT_EQ(read->kernel_version, "550.54.14 ");
  EXPECT_EQ(read->kernel_version_file, "/a dir/\nversion");
  EXPECT_EQ(read->pci_devices, full().pci_devices);
  EXPECT_EQ(read->visible_devices, "");
  EXPECT_EQ(read->libcuda.error, full().libcuda.error);
  EXPECT_EQ(read->init_status, -1);
  EXPECT_EQ(read->nvml_count, 4294967295U);
  ASSERT_EQ(read->nvml_gpus.size(), 2U);
  EXPECT_EQ(read->nvml_gpus[0].name, "NVIDIA A100\nend finished 0");
  EXPECT_EQ(read->nvml_gpus[0].mig_uuids, (std::vector<std::string>{"MIG-1", "MIG 2"}));
  EXPECT_EQ(read->nvml_gpus[1].index, 7U);
  EXPECT_EQ(read->nvml_gpus[1].capability, (ComputeCapability{12, 1}));
  EXPECT_EQ(read->end, ProbeEnd::killed);
  EXPECT_EQ(read->end_number, 11);
}

TEST(ObservationText, is_printable) {
  for (const char c : to_text(full())) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f));
}

TEST(ObservationText, of_nothing_is_an_observation_of_nothing) {
  const auto read = parse_observation(to_text(Observation{}));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->visible_devices);
  EXPECT_FALSE(read->version_status);
  EXPECT_EQ(read->end, ProbeEnd::not_run);
}

TEST(ObservationText, parts_add_up) {
  Observation first;
  first.has_nvidia_module = true;
  first.nvml_gpus = {observed_gpu(0, "8.6")};
  Observation second;
  second.end_call = "cuInit";
  second.nvml_gpus = {observed_gpu(1, "8.9")};
  const auto read = parse_observation(to_text(first) + to_text(second));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->has_nvidia_module);
  EXPECT_EQ(read->nvml_gpus.size(), 2U);
  EXPECT_EQ(read->end_call, "cuInit");
}

TEST(ObservationText, cut_anywhere_is_read_as_far_as_it_goes) {
  const std::string text = to_text(full());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse_observation(std::string_view(text).substr(0, size)).has_value(), size > text.find('\n')) << size;
  }
}

TEST(ObservationText, half_a_line_is_no_fact) {
  const std::string text = to_text(Observation{}) + "libcuda.version 0 12040";
  EXPECT_FALSE(parse_observation(text)->version_status);
  EXPECT_EQ(parse_observation(text + "\n")->version, 12040);
}

struct BadLine {
  const char* name;
  const char* line;
};

class ObservationLine : public testing::TestWithParam<BadLine> {};

TEST_P(ObservationLine, that_is_not_understood_is_left_out) {
  const std::string empty = to_text(Observation{});
  const auto read = parse_observation(empty + GetParam().line + "\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), empty);
}

INSTANTIATE_TEST_SUITE_P(
    Bad, ObservationLine,
    testing::Values(BadLine{"unknown", "colour green"}, BadLine{"empty", ""}, BadLine{"blank", " "},
                    BadLine{"no_words", "libcuda.version"}, BadLine{"too_few_words", "libcuda.version 0"},
                    BadLine{"no_number", "libcuda.init zero"}, BadLine{"number_and_more", "libcuda.init 0x"},
                    BadLine{"number_too_large", "libcuda.count 4294967296"},
                    BadLine{"half_an_escape", "libcuda.path a%4"}, BadLine{"no_escape", "libcuda.path a%zz"},
                    BadLine{"lone_percent", "libcuda.path %"}, BadLine{"unknown_host", "host mars"},
                    BadLine{"unknown_module", "module amdgpu"}, BadLine{"gpu_without_index", "nvml.gpu x 8.6 - u n"},
                    BadLine{"wide_pci_device", "pci 12345"}, BadLine{"unknown_end", "end happily 0"}),
    test::RowName());

class NoObservation : public testing::TestWithParam<BadLine> {};

TEST_P(NoObservation, gives_nothing) { EXPECT_FALSE(parse_observation(GetParam().line)); }

INSTANTIATE_TEST_SUITE_P(Texts, NoObservation,
                         testing::Values(BadLine{"empty", ""}, BadLine{"line_end", "\n"},
                                         BadLine{"other_version", "cudaenv-observation 2\nmodule nvidia\n"},
                                         BadLine{"no_line_end", "cudaenv-observation 1"},
                                         BadLine{"late_head", "module nvidia\ncudaenv-observation 1\n"},
                                         BadLine{"carriage_return", "cudaenv-observation 1\r\n"}),
                         test::RowName());

// --- What is worth keeping ---

struct SettledCase {
  const char* name;
  void (*change)(Observation& seen);
  bool expected;
};

class Settled : public testing::TestWithParam<SettledCase> {};

TEST_P(Settled, unless_it_may_be_otherwise_a_minute_later) {
  Observation seen = healthy();
  GetParam().change(seen);
  EXPECT_EQ(is_settled(seen), GetParam().expected);
}

void take_driver_away(Observation& seen) {
  seen = {};
  seen.end = ProbeEnd::finished;
  seen.libcuda.error = seen.nvml.error = k_not_found;
}

INSTANTIATE_TEST_SUITE_P(
    Observations, Settled,
    testing::Values(
        SettledCase{"healthy", [](Observation&) {}, true}, SettledCase{"no_driver_at_all", take_driver_away, true},
        SettledCase{"nouveau",
                    [](Observation& seen) {
                      take_driver_away(seen);
                      seen.has_nouveau = true;
                    },
                    true},
        SettledCase{"windows_without_nvidia",
                    [](Observation& seen) {
                      take_driver_away(seen);
                      seen.host = HostKind::wsl;
                      seen.has_dxg = true;
                    },
                    true},
        SettledCase{"timed_out", [](Observation& seen) { seen.end = ProbeEnd::timed_out; }, false},
        SettledCase{"crashed", [](Observation& seen) { seen.end = ProbeEnd::killed; }, false},
        SettledCase{"not_asked", [](Observation& seen) { seen.end = ProbeEnd::not_run; }, false},
        SettledCase{"DET_01_nvml_mismatch",
                    [](Observation& seen) {
                      seen.nvml_status = 18;
                      seen.nvml_count.reset();
                      seen.nvml_gpus.clear();
                    },
                    false},
        SettledCase{"DET_04_module_without_libcuda", [](Observation& seen) { seen.libcuda.path.clear(); }, false},
        SettledCase{"DET_13_module_without_device",
                    [](Observation& seen) {
                      seen.nvml_count = 0;
                      seen.nvml_gpus.clear();
                    },
                    false},
        SettledCase{"capability_missing", [](Observation& seen) { seen.nvml_gpus[0].capability.reset(); }, false},
        SettledCase{"capability_by_libcuda",
                    [](Observation& seen) {
                      seen.cuda_gpus = seen.nvml_gpus;
                      seen.nvml_gpus[0].capability.reset();
                    },
                    true},
        SettledCase{"cuInit_failed", [](Observation& seen) { seen.init_status = 999; }, false},
        SettledCase{"DRV_05_compat_not_supported", [](Observation& seen) { seen.init_status = 804; }, true},
        SettledCase{"all_hidden", [](Observation& seen) { seen.init_status = 100; }, true}),
    test::RowName());

// --- When cuInit is worth its time ---

class CudaInit : public testing::TestWithParam<SettledCase> {};

TEST_P(CudaInit, is_needed_for_what_nothing_cheaper_tells) {
  Observation seen = healthy();
  GetParam().change(seen);
  EXPECT_EQ(needs_cuda_init(seen, registry::builtin()), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Observations, CudaInit,
    testing::Values(
        SettledCase{"healthy", [](Observation&) {}, false},
        SettledCase{"no_libcuda", [](Observation& seen) { seen.version_status.reset(); }, false},
        SettledCase{"stub", [](Observation& seen) { seen.version_status = 34; }, false},
        SettledCase{"no_nvml",
                    [](Observation& seen) {
                      seen.nvml_status.reset();
                      seen.nvml_count.reset();
                      seen.nvml_gpus.clear();
                    },
                    true},
        SettledCase{"nvml_lists_none",
                    [](Observation& seen) {
                      seen.nvml_count = 0;
                      seen.nvml_gpus.clear();
                    },
                    true},
        SettledCase{"capability_missing", [](Observation& seen) { seen.nvml_gpus[0].capability.reset(); }, true},
        SettledCase{"DRV_05_newer_than_the_module", [](Observation& seen) { seen.version = 12060; }, true},
        SettledCase{"library_of_another_number",
                    [](Observation& seen) { seen.libcuda.path = "/usr/lib/libcuda.so.550.90.07"; }, true},
        SettledCase{"library_without_a_number",
                    [](Observation& seen) { seen.libcuda.path = "/usr/lib/wsl/lib/libcuda.so.1.1"; }, false},
        SettledCase{"branch_without_certainty",  // R430 reports 10.1 or 10.2
                    [](Observation& seen) {
                      seen.nvml_driver = seen.kernel_version = "430.26";
                      seen.libcuda.path = "/usr/lib/libcuda.so.430.26";
                      seen.version = 10020;
                    },
                    false},
        SettledCase{"driver_newer_than_the_tables",
                    [](Observation& seen) {
                      seen.nvml_driver = seen.kernel_version = "990.10";
                      seen.libcuda.path = "/usr/lib/libcuda.so.990.10";
                      seen.version = 19000;
                    },
                    false},
        SettledCase{"order_of_unlike_gpus",
                    [](Observation& seen) {
                      seen.nvml_gpus.push_back(observed_gpu(1, "7.5"));
                      seen.nvml_count = 2;
                      seen.visible_devices = "1";
                    },
                    true},
        SettledCase{"order_of_like_gpus",
                    [](Observation& seen) {
                      seen.nvml_gpus.push_back(observed_gpu(1, "8.9"));
                      seen.nvml_count = 2;
                      seen.visible_devices = "1";
                    },
                    false},
        SettledCase{"order_of_the_bus",
                    [](Observation& seen) {
                      seen.nvml_gpus.push_back(observed_gpu(1, "7.5"));
                      seen.nvml_count = 2;
                      seen.visible_devices = "1";
                      seen.device_order = "PCI_BUS_ID";
                    },
                    false},
        SettledCase{"uuids_need_no_order",
                    [](Observation& seen) {
                      seen.nvml_gpus.push_back(observed_gpu(1, "7.5"));
                      seen.nvml_count = 2;
                      seen.visible_devices = "GPU-1";
                    },
                    false}),
    test::RowName());

}  // namespace
}  // namespace cudaenv::core
