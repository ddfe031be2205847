// SPDX-License-Identifier: Apache-2.0
#include "core/observed_gpus.hpp"

#include <gtest/gtest.h>

#include "unit/core/named_rows.hpp"
#include "unit/core/observations.hpp"

namespace cudaenv::core {
namespace {

using test::facts_of;
using test::healthy;
using test::joined;
using test::observed_gpu;
using test::refuse_by_nvml;
using test::set_driver;
using test::take_all_away;
using test::take_libcuda_away;
using test::take_nvml_away;

struct GpuCase {
  const char* name;
  void (*change)(Observation& seen);
  GpuStatus status;
  FactSource source;
  const char* gpus;         // "index capability", "-" if unknown, those that are hidden in brackets; one a line
  const char* reason = "";  // a part of it
};

class ConcludedGpus : public testing::TestWithParam<GpuCase> {};

TEST_P(ConcludedGpus, are_those_that_the_driver_lists) {
  Observation seen = healthy();
  GetParam().change(seen);
  const MachineFacts machine = facts_of(seen);
  EXPECT_EQ(machine.gpu_status, GetParam().status);
  EXPECT_EQ(machine.gpu_source, GetParam().source);
  std::string text;
  for (const Gpu& gpu : machine.gpus) {
    const std::string line =
        std::to_string(gpu.index) + " " + (gpu.capability ? to_text(*gpu.capability) : std::string("-"));
    text += gpu.is_visible ? line + "\n" : "[" + line + "]\n";
  }
  EXPECT_EQ(text, GetParam().gpus);
  EXPECT_NE(machine.gpu_reason.find(GetParam().reason), std::string::npos) << machine.gpu_reason;
  EXPECT_EQ(machine.gpu_reason.empty(), *GetParam().reason == 0) << machine.gpu_reason;
}

// An old card and a new one; CUDA counts the new one first.
void add_gpu(Observation& seen) {
  seen.nvml_gpus = {observed_gpu(0, "6.1"), observed_gpu(1, "8.9")};
  seen.nvml_count = 2;
}

void see_by_cuda(Observation& seen, std::vector<ObservedGpu> gpus) {
  seen.init_status = 0;
  seen.cuda_count = static_cast<std::uint32_t>(gpus.size());
  seen.cuda_gpus = std::move(gpus);
}

INSTANTIATE_TEST_SUITE_P(
    Listed, ConcludedGpus,
    testing::Values(GpuCase{"one", [](Observation&) {}, GpuStatus::known, FactSource::nvml, "0 8.9\n"},
                    GpuCase{"DRV_06_two", add_gpu, GpuStatus::known, FactSource::nvml, "0 6.1\n1 8.9\n"},
                    GpuCase{"capability_by_libcuda",
                            [](Observation& seen) {
                              seen.nvml_gpus[0].capability.reset();
                              see_by_cuda(seen, {observed_gpu(0, "8.9")});
                            },
                            GpuStatus::known, FactSource::nvml, "0 8.9\n"},
                    GpuCase{"DET_07_capability_of_nobody",
                            [](Observation& seen) { seen.nvml_gpus[0].capability.reset(); }, GpuStatus::known,
                            FactSource::nvml, "0 -\n"},
                    GpuCase{"DET_07_by_libcuda_alone",
                            [](Observation& seen) {
                              take_nvml_away(seen);
                              see_by_cuda(seen, {observed_gpu(0, "8.7")});
                            },
                            GpuStatus::known, FactSource::libcuda, "0 8.7\n"},
                    GpuCase{"libcuda_where_nvml_was_cut_short",
                            [](Observation& seen) {
                              seen.nvml_count = 2;
                              see_by_cuda(seen, {observed_gpu(0, "8.9"), observed_gpu(1, "8.9")});
                            },
                            GpuStatus::known, FactSource::libcuda, "0 8.9\n1 8.9\n"}),
    test::RowName());

INSTANTIATE_TEST_SUITE_P(
    Visible, ConcludedGpus,
    testing::Values(
        GpuCase{"by_index_in_cuda_order",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.visible_devices = "0";
                  see_by_cuda(seen, {observed_gpu(1, "8.9")});
                },
                GpuStatus::known, FactSource::nvml, "[0 6.1]\n1 8.9\n"},
        GpuCase{"by_index_in_bus_order",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.visible_devices = "0";
                  seen.device_order = "PCI_BUS_ID";
                },
                GpuStatus::known, FactSource::nvml, "0 6.1\n[1 8.9]\n"},
        GpuCase{"by_index_where_cuda_failed",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.visible_devices = "0";
                  seen.init_status = 999;
                },
                GpuStatus::known, FactSource::nvml, "0 6.1\n[1 8.9]\n"},
        GpuCase{"by_uuid",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.visible_devices = "GPU-00000001";
                },
                GpuStatus::known, FactSource::nvml, "[0 6.1]\n1 8.9\n"},
        GpuCase{"MIG_by_instance",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.nvml_gpus[1].has_mig = true;
                  seen.nvml_gpus[1].mig_uuids = {"MIG-1"};
                  seen.visible_devices = "MIG-1";
                },
                GpuStatus::known, FactSource::nvml, "[0 6.1]\n1 8.9\n"},
        GpuCase{"MIG_without_an_instance_beside_another",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.nvml_gpus[1].has_mig = true;
                },
                GpuStatus::known, FactSource::nvml, "0 6.1\n[1 8.9]\n"},
        GpuCase{"MIG_without_an_instance_alone", [](Observation& seen) { seen.nvml_gpus[0].has_mig = true; },
                GpuStatus::known, FactSource::nvml, "[0 8.9]\n",
                "GPU 0 (GPU 0, 8.9) is in MIG mode without an instance, so CUDA does not see it"},
        GpuCase{"MIG_with_an_instance",
                [](Observation& seen) {
                  seen.nvml_gpus[0].has_mig = true;
                  seen.nvml_gpus[0].mig_uuids = {"MIG-1"};
                },
                GpuStatus::known, FactSource::nvml, "0 8.9\n"},
        GpuCase{"MIG_without_an_instance_that_is_asked_for",
                [](Observation& seen) {
                  add_gpu(seen);
                  seen.nvml_gpus[1].has_mig = true;
                  seen.visible_devices = "GPU-00000001";
                },
                GpuStatus::known, FactSource::nvml, "[0 6.1]\n[1 8.9]\n",
                "GPU 1 (GPU 1, 8.9) is in MIG mode without an instance"},
        GpuCase{"none_by_an_empty_value", [](Observation& seen) { seen.visible_devices = ""; }, GpuStatus::known,
                FactSource::nvml, "[0 8.9]\n", "CUDA_VISIBLE_DEVICES= lets programs see no GPU"},
        GpuCase{"none_by_minus_one", [](Observation& seen) { seen.visible_devices = "-1"; }, GpuStatus::known,
                FactSource::nvml, "[0 8.9]\n", "CUDA_VISIBLE_DEVICES=-1 lets programs see no GPU"},
        GpuCase{"none_that_libcuda_alone_sees",
                [](Observation& seen) {
                  take_nvml_away(seen);
                  seen.visible_devices = "";
                  seen.init_status = 100;
                },
                GpuStatus::none, FactSource::nobody, "", "CUDA_VISIBLE_DEVICES= lets programs see no GPU"}),
    test::RowName());

void list_none(Observation& seen) {
  seen.nvml_count = 0;
  seen.nvml_gpus.clear();
  seen.init_status = 100;
}

INSTANTIATE_TEST_SUITE_P(
    None, ConcludedGpus,
    testing::Values(
        GpuCase{"DET_13_nothing_on_the_bus", list_none, GpuStatus::none, FactSource::nobody, "",
                "driver 550.54.14 loaded, no device visible (power saving, PRIME profile, or a container without the "
                "devices?)"},
        GpuCase{"DET_13_card_asleep",
                [](Observation& seen) {
                  list_none(seen);
                  seen.pci_devices = {0x2684};
                },
                GpuStatus::none, FactSource::nobody, "", "no device visible (power saving or PRIME profile?)"},
        GpuCase{"DET_13_card_that_nobody_knows",
                [](Observation& seen) {
                  list_none(seen);
                  seen.pci_devices = {0xfffe};
                },
                GpuStatus::none, FactSource::nobody, "", "no device visible (power saving or PRIME profile?)"},
        GpuCase{"card_newer_than_the_driver",
                [](Observation& seen) {
                  list_none(seen);
                  seen.pci_devices = {0x2b85};
                },
                GpuStatus::none, FactSource::nobody, "", "driver 550.54.14 is older than this GPU ("},
        GpuCase{"card_that_the_driver_no_longer_drives",
                [](Observation& seen) {
                  list_none(seen);
                  set_driver(seen, "590.44.01", 13010);
                  seen.pci_devices = {0x1b80};
                },
                GpuStatus::none, FactSource::nobody, "",
                "driver 590.44.01 no longer drives this GPU (GeForce GTX 1080, 6.1); the last to do so was 580"},
        GpuCase{"of_libcuda_alone",
                [](Observation& seen) {
                  take_nvml_away(seen);
                  seen.init_status = 100;
                },
                GpuStatus::none, FactSource::nobody, "", "no device visible"}),
    test::RowName());

INSTANTIATE_TEST_SUITE_P(
    Unknown, ConcludedGpus,
    testing::Values(
        GpuCase{"DET_01_mismatch", [](Observation& seen) { refuse_by_nvml(seen, 18); }, GpuStatus::unknown,
                FactSource::nobody, "", "user libraries 550.107.02: reboot"},
        GpuCase{"both_fail",
                [](Observation& seen) {
                  refuse_by_nvml(seen, 999);
                  seen.init_status = 3;
                },
                GpuStatus::unknown, FactSource::nobody, "", "neither NVML nor CUDA answers: errors 999 and 3"},
        GpuCase{"only_cuda_fails",
                [](Observation& seen) {
                  take_nvml_away(seen);
                  seen.init_status = 802;
                },
                GpuStatus::unknown, FactSource::nobody, "", "CUDA does not answer: error 802"},
        GpuCase{"only_nvml_fails",
                [](Observation& seen) {
                  take_libcuda_away(seen);
                  refuse_by_nvml(seen, 4);
                },
                GpuStatus::unknown, FactSource::nobody, "", "NVML does not answer: error 4"},
        GpuCase{"hang_among_the_gpus",
                [](Observation& seen) {
                  seen.nvml_count = 2;
                  seen.end = ProbeEnd::timed_out;
                  seen.end_number = 10000;
                  seen.end_call = "nvmlDeviceGetName";
                },
                GpuStatus::unknown, FactSource::nobody, "", "did not answer within 10 s in nvmlDeviceGetName"},
        GpuCase{"DET_11_no_driver", take_all_away, GpuStatus::unknown, FactSource::nobody, "",
                "no NVIDIA driver found"},
        GpuCase{"kernel_module_alone",
                [](Observation& seen) {
                  take_libcuda_away(seen);
                  take_nvml_away(seen);
                },
                GpuStatus::unknown, FactSource::nobody, "", "neither libcuda.so.1 nor libnvidia-ml.so.1 answers"}),
    test::RowName());

TEST(ConcludedGpus, bad_entry_is_told) {
  Observation seen = healthy();
  seen.visible_devices = "0,7";
  const MachineFacts machine = facts_of(seen);
  EXPECT_EQ(machine.visible_devices, "0,7");
  EXPECT_EQ(joined(machine.notes), "CUDA_VISIBLE_DEVICES=0,7 ends for CUDA at '7', which is no GPU here\n");
}

TEST(ConcludedGpus, guessed_order_is_told) {
  Observation seen = healthy();
  add_gpu(seen);
  seen.visible_devices = "0";
  seen.init_status = 999;
  EXPECT_NE(joined(facts_of(seen).notes).find("in the order of the bus"), std::string::npos);
}

TEST(ConcludedGpus, MIG_without_an_instance_is_told) {
  Observation seen = healthy();
  add_gpu(seen);
  seen.nvml_gpus[1].has_mig = true;
  const MachineFacts machine = facts_of(seen);
  EXPECT_EQ(joined(machine.notes), "GPU 1 (GPU 1, 8.9) is in MIG mode without an instance, so CUDA does not see it\n");
  EXPECT_EQ(machine.gpu_reason, "");
  // Not of one that CUDA_VISIBLE_DEVICES hides anyhow.
  seen.visible_devices = "GPU-00000000";
  EXPECT_EQ(joined(facts_of(seen).notes), "");
}

TEST(ConcludedGpus, tell_nothing_that_a_terminal_must_not_see) {
  Observation seen = healthy();
  seen.visible_devices = "\x1b[2J";
  seen.nvml_gpus[0].name = "GPU\x1b]0;x\x07";
  const MachineFacts machine = facts_of(seen);
  EXPECT_EQ(machine.gpus.at(0).name, "GPU\\x1b]0;x\\x07");
  EXPECT_EQ((joined(machine.notes) + machine.gpu_reason).find('\x1b'), std::string::npos);
}

TEST(ConcludedGpus, keep_what_the_driver_says_of_them) {
  Observation seen = healthy();
  seen.nvml_gpus[0].has_mig = true;
  seen.nvml_gpus[0].mig_uuids = {"MIG-1", "MIG-2"};
  const Gpu gpu = facts_of(seen).gpus.at(0);
  EXPECT_EQ(gpu.name, "GPU 0");
  EXPECT_EQ(gpu.uuid, "GPU-00000000-1111");
  EXPECT_TRUE(gpu.has_mig);
  EXPECT_EQ(gpu.mig_uuids.size(), 2U);
}

}  // namespace
}  // namespace cudaenv::core
