// SPDX-License-Identifier: Apache-2.0
#include "store/machine.hpp"

#include <sys/utsname.h>

#include "component/redist/scratch.hpp"

namespace cudaenv::store {
namespace {

class ThisMachine : public testing::Test {
 protected:
  bool is_tegra() const {
    base::Environment environment;
    environment.set("CUDAENV_HOST_ROOT", m_scratch.path().native());
    return this_machine(environment).is_tegra;
  }
  test::Scratch m_scratch;
};

TEST_F(ThisMachine, has_the_cpu_of_the_kernel) {
  utsname name = {};
  ASSERT_EQ(::uname(&name), 0);
  EXPECT_EQ(this_machine({}).cpu, name.machine);
}

TEST_F(ThisMachine, is_no_tegra_without_a_mark) {
  EXPECT_FALSE(is_tegra());
  m_scratch.directory("proc/device-tree");
  m_scratch.file("proc/device-tree/compatible", std::string_view("raspberrypi,4-model-b\0brcm,bcm2711\0", 35));
  EXPECT_FALSE(is_tegra());
}

TEST_F(ThisMachine, is_a_tegra_by_the_release_file_of_its_image) {
  m_scratch.directory("etc");
  m_scratch.file("etc/nv_tegra_release", "# R36 (release), REVISION: 4.0\n");
  EXPECT_TRUE(is_tegra());
}

TEST_F(ThisMachine, is_a_tegra_by_its_device_tree) {
  m_scratch.directory("proc/device-tree");
  m_scratch.file("proc/device-tree/compatible", std::string_view("nvidia,p3768-0000\0nvidia,tegra234\0", 34));
  EXPECT_TRUE(is_tegra());
}

}  // namespace
}  // namespace cudaenv::store
