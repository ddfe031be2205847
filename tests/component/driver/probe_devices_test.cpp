// SPDX-License-Identifier: Apache-2.0
#include "component/driver/fake_machine.hpp"

namespace cudaenv::driver {
namespace {

using test::all_of;

class ProbeDevices : public test::FakeMachine {};

// --- MIG, and what CUDA_VISIBLE_DEVICES selects ---

TEST_F(ProbeDevices, MIG_instances_belong_to_their_gpu) {
  driver("550.54.14", 12040, 2);
  gpu(0, "NVIDIA A100-SXM4-40GB", "8.0");
  gpu(1, "NVIDIA A100-SXM4-40GB", "8.0");
  const std::string first = "MIG-a0000000-0000-5000-8000-0123456789ab";
  const std::string second = "MIG-b0000000-0000-5000-8000-0123456789ab";
  scenario({"gpu.0.mig 0", "gpu.1.mig 1", "gpu.1.instances " + first + "," + second});
  m_environment.set("CUDA_VISIBLE_DEVICES", "MIG-b0");
  const core::MachineFacts machine = facts();
  ASSERT_EQ(machine.gpus.size(), 2U);
  EXPECT_FALSE(machine.gpus[0].has_mig);
  EXPECT_TRUE(machine.gpus[1].has_mig);
  EXPECT_EQ(machine.gpus[1].mig_uuids, (std::vector<std::string>{first, second}));
  EXPECT_FALSE(machine.gpus[0].is_visible);
  EXPECT_TRUE(machine.gpus[1].is_visible);
}

class DeviceOrder : public ProbeDevices {
 protected:
  void SetUp() override {
    ProbeDevices::SetUp();
    if (IsSkipped()) return;
    driver("550.54.14", 12040, 2);
    gpu(0, "NVIDIA T400", "7.5");
    gpu(1, "NVIDIA H100 PCIe", "9.0");
    scenario({"cuda.0 1", "cuda.1 0"});
    m_environment.set("CUDA_VISIBLE_DEVICES", "0");
  }
  // Which of the two is visible, and what was said of it.
  std::string visible() const {
    const core::MachineFacts machine = facts();
    std::string text;
    for (const core::Gpu& gpu : machine.gpus)
      if (gpu.is_visible) text += gpu.name + "\n";
    return text + all_of(machine.notes);
  }
};

TEST_F(DeviceOrder, is_that_of_cuda) {
  EXPECT_EQ(visible(), "NVIDIA H100 PCIe\n");
  EXPECT_TRUE(was_called("cuInit"));
}

TEST_F(DeviceOrder, is_that_of_the_bus_where_the_user_says_so) {
  m_environment.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  EXPECT_EQ(visible(), "NVIDIA T400\n");
  EXPECT_FALSE(was_called("cuInit"));
}

TEST_F(DeviceOrder, does_not_matter_to_uuids) {
  m_environment.set("CUDA_VISIBLE_DEVICES", uuid(0));
  EXPECT_EQ(visible(), "NVIDIA T400\n");
  EXPECT_FALSE(was_called("cuInit"));
}

TEST_F(DeviceOrder, is_guessed_with_a_note_where_cuda_fails) {
  scenario({"cuInit.status 999"});
  const std::string said = visible();
  EXPECT_TRUE(said.starts_with("NVIDIA T400\n")) << said;
  EXPECT_NE(said.find("CUDA_DEVICE_ORDER=PCI_BUS_ID"), std::string::npos) << said;
}

TEST_F(DeviceOrder, no_visible_gpu_is_no_trouble) {
  m_environment.set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(visible(), "");
  EXPECT_EQ(facts().gpu_reason, "CUDA_VISIBLE_DEVICES= lets programs see no GPU");
  EXPECT_TRUE(is_settled(observe()));
}

}  // namespace
}  // namespace cudaenv::driver
