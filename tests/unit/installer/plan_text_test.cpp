// SPDX-License-Identifier: Apache-2.0
#include "installer/plan_text.hpp"

#include <gtest/gtest.h>

namespace cudaenv::installer {
namespace {

using redist::ComponentOrigin;

class PlanTextTest : public testing::Test {
 protected:
  PlanTextTest() {
    m_components[0].name = "cuda_nvcc";
    m_components[0].version = "12.8.93";
    m_components[1].name = "libcublas";
    m_components[1].version = "12.8.4.1";
    m_library.component_class = core::ComponentClass::library;
    m_compiler.component_class = core::ComponentClass::compiler;
    m_plan.components = {{&m_components[0], {}, &m_compiler}, {&m_components[1], {}, &m_library}};
    m_plan.components[0].archive.size = 10'000'000;
    m_plan.components[0].archive.sha256 = "nvcc";
    m_plan.components[1].archive.size = 900'000'000;
    m_plan.components[1].archive.sha256 = "blas";
  }

  // Of another toolkit that has libcublas from that archive.
  static store::Receipt receipt(const std::string& digest, std::vector<std::string> without = {}) {
    store::Receipt receipt;
    receipt.without = std::move(without);
    receipt.components.push_back({"libcublas", "12.8.4.1", "", "", "", digest, 900'000'000});
    receipt.files = {{"lib/libcublas.so.12.8.4.1", "libcublas", 0755, 1'500'000'000, "", ""},
                     {"lib/libcublas.so", "libcublas", 0, 0, "", "libcublas.so.12.8.4.1"},
                     {"lib/other.so", "other", 0755, 7, "", ""},
                     {"version.json", "", 0644, 7, "", ""}};
    return receipt;
  }

  PlanSummary of(const std::vector<store::Receipt>& receipts, const std::string& kept = "",
                 const std::vector<std::string>& without = {}) const {
    return summarize(m_plan, without, receipts, [&](const std::string& digest) { return digest == kept; });
  }

  core::Component m_components[2];
  core::ComponentRow m_library{};
  core::ComponentRow m_compiler{};
  core::ComponentPlan m_plan;
};

TEST_F(PlanTextTest, all_is_fetched_and_sizes_are_estimates) {
  const PlanSummary summary = of({});
  EXPECT_EQ(summary.to_fetch(), 910'000'000u);
  EXPECT_TRUE(summary.is_estimate());
  EXPECT_EQ(summary.shared(), 0u);
  EXPECT_EQ(plan_text(summary, "/root/versions", 100'000'000'000),
            "                                            download        unpacked\n"
            "  cuda_nvcc                12.8.93           10.0 MB   about 40.0 MB\n"
            "  libcublas                12.8.4.1         900.0 MB    about 1.8 GB\n"
            "  2 components                              910.0 MB    about 1.8 GB\n"
            "free in /root/versions: 100.0 GB\n");
}

TEST_F(PlanTextTest, what_is_here_is_not_fetched_and_what_is_shared_takes_no_room) {
  const PlanSummary summary = of({receipt("blas")}, "nvcc");
  EXPECT_EQ(summary.to_fetch(), 0u);
  EXPECT_EQ(summary.unpacked(), 40'000'000u);
  EXPECT_EQ(plan_text(summary, "/r\x1b", 39'999'999),
            "                                            download        unpacked\n"
            "  cuda_nvcc                12.8.93              kept   about 40.0 MB\n"
            "  libcublas                12.8.4.1           shared          1.5 GB\n"
            "  2 components                                   0 B   about 40.0 MB\n"
            "shared with toolkits that are installed: 1.5 GB\n"
            "free in /r\\x1b: 40.0 MB, which is not enough\n");
}

TEST_F(PlanTextTest, only_the_same_archive_unpacked_in_the_same_way_is_shared) {
  EXPECT_EQ(of({receipt("another")}).parts[1].origin, ComponentOrigin::fetched);
  EXPECT_EQ(of({receipt("blas", {"static"})}).parts[1].origin, ComponentOrigin::fetched);
  EXPECT_EQ(of({receipt("blas")}, "", {"static"}).parts[1].origin, ComponentOrigin::fetched);
  EXPECT_EQ(of({receipt("blas", {"static", "libnpp"})}, "", {"static"}).parts[1].origin, ComponentOrigin::shared);
  EXPECT_EQ(of({receipt("another"), receipt("blas")}).parts[1].unpacked, 1'500'000'000u);
}

TEST_F(PlanTextTest, a_component_that_the_registry_does_not_know) {
  m_plan.components.resize(1);
  m_plan.components[0].row = nullptr;
  EXPECT_EQ(of({}).parts[0].unpacked, 40'000'000u);
}

}  // namespace
}  // namespace cudaenv::installer
