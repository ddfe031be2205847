// SPDX-License-Identifier: Apache-2.0
#include "registry/builtin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/registry_lookup.hpp"
#include "registry/order.hpp"

// Facts that the program's answers rest on, each as a person would look it up, and what must hold of all rows.

namespace cudaenv::core {
namespace {

const Registry& facts() { return registry::builtin(); }

DottedVersion dotted(std::string_view text) { return parse_dotted_version(text).value_or(DottedVersion{}); }

struct ReleaseCase {
  const char* name;
  const char* release;
  const char* driver;
  const char* nvcc;    // "": unknown
  const char* cudart;  // "": unknown
  bool has_archives;
};

class Release : public testing::TestWithParam<ReleaseCase> {};

TEST_P(Release, HasTheNumbersThatNvidiaLists) {
  const ReleaseRow* row = find_release(facts(), *parse_version(GetParam().release));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->minimum_driver, dotted(GetParam().driver));
  EXPECT_EQ(row->nvcc_version, dotted(GetParam().nvcc));
  EXPECT_EQ(row->cudart_version, dotted(GetParam().cudart));
  EXPECT_EQ(row->has_archives, GetParam().has_archives);
}

INSTANTIATE_TEST_SUITE_P(Builtin, Release,
                         testing::Values(ReleaseCase{"V10_0_130", "10.0.130", "410.48", "", "", false},
                                         ReleaseCase{"V11_4_1", "11.4.1", "470.57.02", "", "", false},
                                         ReleaseCase{"V11_4_2", "11.4.2", "470.57.02", "11.4.120", "11.4.108", true},
                                         ReleaseCase{"V12_4_1", "12.4.1", "550.54.15", "12.4.131", "12.4.127", true},
                                         ReleaseCase{"V12_8_0", "12.8.0", "570.26", "12.8.61", "12.8.57", true},
                                         ReleaseCase{"V13_0_2", "13.0.2", "580.95.05", "13.0.88", "13.0.96", true},
                                         ReleaseCase{"V13_5_0", "13.5.0", "620", "13.5.37", "", true}),
                         [](const auto& test) { return std::string(test.param.name); });

struct ArchitectureCase {
  const char* name;
  std::uint32_t major;
  std::uint32_t minor;
  ComputeCapability gpu;
  bool expected;
};

class Architecture : public testing::TestWithParam<ArchitectureCase> {};

TEST_P(Architecture, IsTargetedOrNot) {
  const auto [name, major, minor, gpu, expected] = GetParam();
  const ToolkitArchitecturesRow* row = architectures_of(facts(), {major, minor, 0});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(can_target(facts(), *row, gpu), expected);
}

INSTANTIATE_TEST_SUITE_P(Builtin, Architecture,
                         testing::Values(ArchitectureCase{"VoltaIn12_9", 12, 9, {7, 0}, true},
                                         ArchitectureCase{"VoltaNotIn13_0", 13, 0, {7, 0}, false},
                                         ArchitectureCase{"AdaNotIn11_7", 11, 7, {8, 9}, false},
                                         ArchitectureCase{"AdaIn11_8", 11, 8, {8, 9}, true},
                                         ArchitectureCase{"KeplerNotIn12_0", 12, 0, {3, 5}, false},
                                         ArchitectureCase{"ThorIn12_9As10_1", 12, 9, {11, 0}, true},
                                         ArchitectureCase{"RubinNotIn13_3", 13, 3, {10, 7}, false},
                                         ArchitectureCase{"RubinIn13_4", 13, 4, {10, 7}, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Builtin, HopperHasAnArchitectureSpecificFormFrom12_0) {
  EXPECT_TRUE(architectures_of(facts(), {11, 8, 0})->suffixed.empty());
  const auto suffixed = architectures_of(facts(), {12, 0, 0})->suffixed;
  ASSERT_EQ(suffixed.size(), 1u);
  EXPECT_EQ(suffixed.front(), (SuffixedArchitecture{90, 'a'}));
}

TEST(Builtin, MinorVersionCompatibilityStartsWith11) {
  EXPECT_FALSE(find_major(facts(), 10)->minor_version_compatible);
  EXPECT_EQ(find_major(facts(), 11)->minimum_driver, dotted("450.80.02"));
  EXPECT_EQ(find_major(facts(), 12)->minimum_driver, dotted("525.60.13"));
  EXPECT_EQ(find_major(facts(), 13)->minimum_driver, dotted("580.65.06"));
}

TEST(Builtin, MinorVersionCompatibilityHasItsOwnMinimumOnWindows) {
  EXPECT_EQ(find_major(facts(), 11)->minimum_windows_driver, dotted("452.39"));
  EXPECT_EQ(find_major(facts(), 12)->minimum_windows_driver, dotted("527.41"));
  EXPECT_FALSE(find_major(facts(), 13)->minimum_windows_driver);
}

TEST(Builtin, ChipsOfJetsonAreTegra) {
  std::vector<std::uint16_t> codes;
  for (const ChipRow& row : facts().chips)
    if (row.is_tegra) codes.push_back(architecture_code(row.capability));
  EXPECT_EQ(codes, (std::vector<std::uint16_t>{32, 53, 62, 72, 87, 101, 110}));
}

TEST(Builtin, AChipComesWithTheDriverBranchOfItsFirstToolkit) {
  for (const ChipRow& chip : facts().chips) {
    if (chip.first_driver_branch == 0) continue;
    const auto* branch = find_driver_branch(facts(), chip.first_driver_branch);
    ASSERT_NE(branch, nullptr) << chip.first_driver_branch;
    const ToolkitRange range = toolkits_for(facts(), chip.capability);
    EXPECT_EQ((Minor{range.oldest->major, range.oldest->minor}), (Minor{branch->cuda_major, branch->cuda_minor}))
        << chip.first_driver_branch;
  }
}

TEST(Builtin, DriverBranch565ReportsTheToolkitThatNeverWas) {
  const DriverBranchRow* row = find_driver_branch(facts(), 565);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->cuda_minor, 7u);
  EXPECT_EQ(was_released(facts(), row->cuda_major, row->cuda_minor), Released::no);
}

TEST(Builtin, DriverBranch430DecidesNothing) { EXPECT_FALSE(find_driver_branch(facts(), 430)->certain); }

TEST(Builtin, Branch580IsTheLastOneForVolta) {
  EXPECT_EQ(find_chip(facts(), {7, 0})->last_driver_branch, 580u);
  EXPECT_EQ(find_driver_branch(facts(), 590)->oldest_gpu, (ComputeCapability{7, 5}));
}

TEST(Builtin, PciIdsLeadToProducts) {
  const PciRow* h100 = find_pci_device(facts(), 0x2330);
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->capability, (ComputeCapability{9, 0}));
}

TEST(Builtin, Gcc13IsAcceptedFrom12_4) {
  EXPECT_EQ(host_compilers_of(facts(), {12, 3, 2})->newest_gcc, 12);
  EXPECT_EQ(host_compilers_of(facts(), {12, 4, 1})->newest_gcc, 13);
}

TEST(Builtin, TablesAreStrictlySorted) {
  EXPECT_TRUE(registry::is_strictly_sorted(facts().releases));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().majors));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().driver_branches));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().architectures));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().chips));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().gpus));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().pci));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().host_compilers));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().components));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().compat));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().products));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().flat_archives));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().product_manifests));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().elsewhere));
  EXPECT_TRUE(registry::is_strictly_sorted(facts().sources));
}

TEST(Builtin, DriverBranchesImplementAscendingCudaVersions) {
  const auto rows = facts().driver_branches;
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_LE(std::pair(rows[i - 1].cuda_major, rows[i - 1].cuda_minor),
              std::pair(rows[i].cuda_major, rows[i].cuda_minor))
        << rows[i].branch;
}

TEST(Builtin, NoReleaseWantsADriverBelowItsMajorsMinimumFrom12) {
  for (const ReleaseRow& row : releases_of(facts(), 12))
    EXPECT_GE(row.minimum_driver, find_major(facts(), 12)->minimum_driver) << row.release.minor;
  for (const ReleaseRow& row : releases_of(facts(), 13))
    EXPECT_GE(row.minimum_driver, find_major(facts(), 13)->minimum_driver) << row.release.minor;
}

TEST(Builtin, ComponentNumbersBelongToTheMinorOfTheirRelease) {
  for (const ReleaseRow& row : facts().releases) {
    for (const DottedVersion& number : {row.nvcc_version, row.cudart_version}) {
      if (!number) continue;
      EXPECT_TRUE(number[0] == row.release.major && number[1] == row.release.minor && number.count == 3)
          << row.release.major << '.' << row.release.minor << '.' << row.release.patch;
    }
  }
}

TEST(Builtin, MinimalProfileIsTheCompilerSet) {
  std::vector<std::string_view> minimal;
  for (const ComponentRow& row : facts().components)
    if (row.in_minimal) minimal.push_back(row.name);
  EXPECT_EQ(minimal, (std::vector<std::string_view>{"cccl", "cuda_cccl", "cuda_crt", "cuda_cudart", "cuda_culibos",
                                                    "cuda_nvcc", "libnvptxcompiler", "libnvvm"}));
}

TEST(Builtin, NvccBringsAllOfTheMinimalProfile) {
  const auto needs = find_component(facts(), "cuda_nvcc")->needs;
  for (const ComponentRow& row : facts().components) {
    if (!row.in_minimal || row.name == "cuda_nvcc") continue;
    EXPECT_NE(std::find(needs.begin(), needs.end(), row.name), needs.end()) << row.name;
  }
}

TEST(Builtin, SolversBringTheLibrariesTheyLoad) {
  const auto needs = find_component(facts(), "libcusolver")->needs;
  EXPECT_EQ(std::vector<std::string_view>(needs.begin(), needs.end()),
            (std::vector<std::string_view>{"libcublas", "libcusparse", "libnvjitlink"}));
}

TEST(Builtin, NothingTiedToADriverIsInAProfile) {
  for (const char* name : {"nvidia_driver", "nvidia_fs", "fabricmanager", "imex", "cuda_compat", "nsight_vse"}) {
    const ComponentRow* row = find_component(facts(), name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_FALSE(row->in_default || row->in_minimal || is_in_full_profile(row->component_class)) << name;
  }
}

TEST(Builtin, SourcesOfRowsAreDescribed) {
  const auto first_word = [](std::string_view ids) { return ids.substr(0, ids.find(' ')); };
  for (const ReleaseRow& row : facts().releases) EXPECT_TRUE(find_source(facts(), first_word(row.source)));
  for (const ComponentRow& row : facts().components) EXPECT_TRUE(find_source(facts(), first_word(row.source)));
  for (const ProductRow& row : facts().products) EXPECT_TRUE(find_source(facts(), first_word(row.source)));
  for (const FlatArchivesRow& row : facts().flat_archives) EXPECT_TRUE(find_source(facts(), first_word(row.source)));
}

}  // namespace
}  // namespace cudaenv::core
