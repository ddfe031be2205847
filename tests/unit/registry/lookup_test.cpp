// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

const Registry& facts() { return registry::builtin(); }

Version version(std::string_view text) { return parse_version(text).value_or(Version{}); }

std::string name_of(const auto& test) { return test.param.name; }

// --- Whether something was released ---

struct ReleasedCase {
  const char* name;
  std::uint32_t major;
  std::uint32_t minor;
  Released expected;
};

class MinorWasReleased : public testing::TestWithParam<ReleasedCase> {};

TEST_P(MinorWasReleased, AsNvidiaDid) {
  EXPECT_EQ(was_released(facts(), GetParam().major, GetParam().minor), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Registry, MinorWasReleased,
                         testing::Values(ReleasedCase{"Known", 12, 4, Released::yes},
                                         ReleasedCase{"OfThreeDigits", 10, 2, Released::yes},
                                         ReleasedCase{"SkippedMinor", 12, 7, Released::no},
                                         ReleasedCase{"BetweenMajors", 11, 9, Released::no},
                                         ReleasedCase{"AfterTheTables", 99, 0, Released::unknown},
                                         ReleasedCase{"BeforeTheTables", 9, 2, Released::unknown}),
                         [](const auto& test) { return name_of(test); });

struct UpdateCase {
  const char* name;
  const char* release;
  Released expected;
};

class UpdateWasReleased : public testing::TestWithParam<UpdateCase> {};

TEST_P(UpdateWasReleased, AsNvidiaDid) {
  EXPECT_EQ(was_released(facts(), version(GetParam().release)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Registry, UpdateWasReleased,
                         testing::Values(UpdateCase{"Known", "12.4.1", Released::yes},
                                         UpdateCase{"Preview", "13.4.0", Released::yes},
                                         UpdateCase{"Gap", "11.0.0", Released::no},
                                         UpdateCase{"BetweenBuilds", "10.1.200", Released::no},
                                         UpdateCase{"OfAMinorThatNeverWas", "12.7.1", Released::no},
                                         UpdateCase{"PastTheLastUpdate", "12.4.9", Released::unknown},
                                         UpdateCase{"AfterTheTables", "99.0.0", Released::unknown}),
                         [](const auto& test) { return name_of(test); });

// --- Nearest releases ---

struct NearestCase {
  const char* name;
  const char* release;  // ends in .x: the minor
  Among among;
  std::vector<std::string> expected;
};

class NearestReleases : public testing::TestWithParam<NearestCase> {};

TEST_P(NearestReleases, AreOneBelowAndOneAbove) {
  std::string text = GetParam().release;
  const bool is_minor = text.ends_with(".x");
  if (is_minor) text.replace(text.size() - 1, 1, "0");
  const Version wanted = version(text);
  std::vector<std::string> found;
  for (const Version& release : is_minor ? nearest_releases(facts(), wanted.major, wanted.minor, GetParam().among)
                                         : nearest_releases(facts(), wanted, GetParam().among))
    found.push_back(to_text(release));
  EXPECT_EQ(found, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Registry, NearestReleases,
    testing::Values(NearestCase{"OfTheMinorThatNeverWas", "12.7.x", Among::installable, {"12.6.3", "12.8.2"}},
                    NearestCase{"InsideAMinor", "11.4.3", Among::all, {"11.4.2", "11.4.4"}},
                    NearestCase{"PastTheLastUpdate", "12.4.7", Among::installable, {"12.4.1", "12.5.1"}},
                    NearestCase{"OnlyInstallableOnes", "11.3.x", Among::installable, {"11.4.4"}},
                    NearestCase{"AllOnes", "11.3.x", Among::all, {"11.2.2", "11.4.4"}},
                    NearestCase{"NoPreview", "13.3.7", Among::all, {"13.3.1", "13.4.2"}},
                    NearestCase{"BeforeAll", "1.0.x", Among::all, {"10.0.130"}},
                    NearestCase{"AfterAll", "98.0.x", Among::all, {"13.5.0"}}),
    [](const auto& test) { return name_of(test); });

TEST(NearestReleasesOf, AnEmptyTableAreNone) { EXPECT_TRUE(nearest_releases({}, 12, 4, Among::all).empty()); }

TEST(NewestRelease, OfAMinorLeavesPreviewsOut) {
  EXPECT_EQ(newest_release(releases_of(facts(), 13, 4), Among::all)->release, version("13.4.2"));
  EXPECT_EQ(newest_release(releases_of(facts(), 13, 4).first(1), Among::all), nullptr);
}

TEST(NewestRelease, CanBeLimitedToInstallableOnes) {
  const auto minor = releases_of(facts(), 11, 3);
  EXPECT_EQ(newest_release(minor, Among::all)->release, version("11.3.1"));
  EXPECT_EQ(newest_release(minor, Among::installable), nullptr);
}

TEST(ReleasesOf, AMajorSpansItsMinors) {
  const auto major = releases_of(facts(), 12);
  EXPECT_EQ(major.front().release, version("12.0.0"));
  EXPECT_EQ(major.back().release, version("12.9.2"));
  EXPECT_TRUE(releases_of(facts(), 12, 7).empty());
}

// --- Component numbers taken for releases ---

struct ComponentNumberCase {
  const char* name;
  const char* number;
  const char* release;  // "": none
  const char* component;
};

class ComponentNumber : public testing::TestWithParam<ComponentNumberCase> {};

TEST_P(ComponentNumber, LeadsToItsRelease) {
  const auto match = release_of_component_version(facts(), *parse_dotted_version(GetParam().number));
  if (std::string_view(GetParam().release).empty()) {
    EXPECT_FALSE(match);
    return;
  }
  ASSERT_TRUE(match);
  EXPECT_EQ(match->release->release, version(GetParam().release));
  EXPECT_EQ(match->component, GetParam().component);
}

INSTANTIATE_TEST_SUITE_P(Registry, ComponentNumber,
                         testing::Values(ComponentNumberCase{"Nvcc", "12.4.131", "12.4.1", "nvcc"},
                                         ComponentNumberCase{"Cudart", "12.4.127", "12.4.1", "cudart"},
                                         ComponentNumberCase{"BothAreNvcc", "12.6.77", "12.6.2", "nvcc"},
                                         ComponentNumberCase{"NewestOfSeveral", "11.4.152", "11.4.4", "nvcc"},
                                         ComponentNumberCase{"Nobodys", "12.4.999", "", ""},
                                         ComponentNumberCase{"Short", "12.4", "", ""}),
                         [](const auto& test) { return name_of(test); });

TEST(ComponentNumberOf, NoVersionIsNobodys) { EXPECT_FALSE(release_of_component_version(facts(), {})); }

// --- GPUs ---

struct GpuNameCase {
  const char* name;
  const char* product;
  std::optional<ComputeCapability> expected;
};

class GpuName : public testing::TestWithParam<GpuNameCase> {};

TEST_P(GpuName, GivesItsCapability) { EXPECT_EQ(capability_of_name(facts(), GetParam().product), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Registry, GpuName,
    testing::Values(GpuNameCase{"Plain", "V100", ComputeCapability{7, 0}},
                    GpuNameCase{"WithPrefix", "NVIDIA H100 80GB HBM3", ComputeCapability{9, 0}},
                    GpuNameCase{"InAnyCase", "nvidia geforce rtx 4090", ComputeCapability{8, 9}},
                    GpuNameCase{"WithHyphensAsDriversWrite", "Tesla V100-SXM2-16GB", ComputeCapability{7, 0}},
                    GpuNameCase{"OfSeveralChips", "GeForce GT 730", std::nullopt},
                    GpuNameCase{"StartOfAName", "GeForce RTX", std::nullopt},
                    GpuNameCase{"Unknown", "GeForce 9999", std::nullopt},
                    GpuNameCase{"PrefixAlone", "NVIDIA ", std::nullopt}, GpuNameCase{"Empty", "", std::nullopt}),
    [](const auto& test) { return name_of(test); });

TEST(GpusNamed, AreAsManyAsTheNameHasChips) { EXPECT_EQ(gpus_named(facts(), "GeForce GT 730").size(), 3u); }

struct TargetCase {
  const char* name;
  ComputeCapability gpu;
  const char* oldest;  // minors; "": no toolkit
  const char* newest;
};

class Target : public testing::TestWithParam<TargetCase> {};

TEST_P(Target, IsKnownToARangeOfToolkits) {
  const auto minor = [](const ToolkitArchitecturesRow* row) {
    return row ? std::to_string(row->major) + "." + std::to_string(row->minor) : "";
  };
  const ToolkitRange range = toolkits_for(facts(), GetParam().gpu);
  EXPECT_EQ(minor(range.oldest), GetParam().oldest);
  EXPECT_EQ(minor(range.newest), GetParam().newest);
}

INSTANTIATE_TEST_SUITE_P(Registry, Target,
                         testing::Values(TargetCase{"Kepler", {3, 5}, "10.0", "11.8"},
                                         TargetCase{"Volta", {7, 0}, "10.0", "12.9"},
                                         TargetCase{"Ada", {8, 9}, "11.8", "13.5"},
                                         TargetCase{"Blackwell", {10, 0}, "12.8", "13.5"},
                                         TargetCase{"ThorByItsFormerNumber", {11, 0}, "12.8", "13.5"},
                                         TargetCase{"Fermi", {2, 0}, "", ""}, TargetCase{"NoSuchGpu", {42, 0}, "", ""}),
                         [](const auto& test) { return name_of(test); });

TEST(ArchitecturesOf, AReleaseAreThoseOfItsMinor) {
  EXPECT_EQ(architectures_of(facts(), version("12.4.1")), architectures_of(facts(), version("12.4.0")));
  EXPECT_EQ(architectures_of(facts(), version("12.7.0")), nullptr);
}

TEST(ArchitectureCode, IsTheCapabilityWithoutTheDot) {
  EXPECT_EQ(architecture_code({7, 5}), 75);
  EXPECT_EQ(architecture_code({12, 1}), 121);
  EXPECT_EQ(capability_of_code(103), (ComputeCapability{10, 3}));
}

TEST(IsDataCenter, GoesByNameAndCapability) {
  EXPECT_TRUE(is_data_center(facts(), "NVIDIA A100-SXM4-80GB", {8, 0}));
  EXPECT_TRUE(is_data_center(facts(), "Tesla V100-SXM2-16GB", {7, 0}));
  EXPECT_TRUE(is_data_center(facts(), "NVIDIA GB10", {12, 1}));
  EXPECT_FALSE(is_data_center(facts(), "NVIDIA A100-SXM4-80GB", {8, 6}));
  EXPECT_FALSE(is_data_center(facts(), "NVIDIA GeForce RTX 4090", {8, 9}));
  EXPECT_FALSE(is_data_center(facts(), "", {8, 0}));
}

// --- Drivers ---

struct BranchCase {
  const char* name;
  const char* driver;
  DriverNumbers numbers;
  std::uint32_t expected;  // 0: none
};

class BranchOf : public testing::TestWithParam<BranchCase> {};

TEST_P(BranchOf, ADriver) {
  const DriverBranchRow* row = branch_of(facts(), *parse_dotted_version(GetParam().driver), GetParam().numbers);
  EXPECT_EQ(row ? row->branch : 0, GetParam().expected);
}

constexpr DriverNumbers k_linux = DriverNumbers::of_linux;
constexpr DriverNumbers k_windows = DriverNumbers::of_windows;

INSTANTIATE_TEST_SUITE_P(Registry, BranchOf,
                         testing::Values(BranchCase{"Exact", "550.54.14", k_linux, 550},
                                         BranchCase{"Newest", "620.70.06", k_linux, 620},
                                         BranchCase{"BetweenTwo", "553.10", k_linux, 550},
                                         BranchCase{"PastTheNewest", "640.10", k_linux, 0},
                                         BranchCase{"JustPastTheNewest", "621.10", k_linux, 0},
                                         BranchCase{"BeforeTheOldest", "340.108", k_linux, 0},
                                         BranchCase{"Windows551", "551.61", k_windows, 550},
                                         BranchCase{"Windows596", "596.21", k_windows, 595},
                                         BranchCase{"Windows616", "616.41", k_windows, 615},
                                         BranchCase{"WindowsOfTheNewest", "622.10", k_windows, 620},
                                         BranchCase{"WindowsPastTheNewest", "625.10", k_windows, 0},
                                         BranchCase{"WindowsBeforeTheOldest", "381.65", k_windows, 0}),
                         [](const auto& test) { return name_of(test); });

TEST(BranchOfNothing, IsNone) {
  EXPECT_EQ(branch_of(facts(), {}, k_linux), nullptr);
  EXPECT_EQ(branch_of({}, *parse_dotted_version("550.54"), k_windows), nullptr);
}

TEST(CompatPackage, IsThatOfTheBranch) {
  EXPECT_NE(find_compat(facts(), {13, 0}, 570), nullptr);
  EXPECT_EQ(find_compat(facts(), {13, 0}, 580), nullptr);
  EXPECT_EQ(find_compat(facts(), {13, 5}, 580), nullptr);
}

// --- Single rows ---

TEST(FindRow, IsNullWhereNothingIsKnown) {
  EXPECT_EQ(find_release(facts(), version("12.7.0")), nullptr);
  EXPECT_EQ(find_major(facts(), 9), nullptr);
  EXPECT_EQ(find_driver_branch(facts(), 571), nullptr);
  EXPECT_EQ(find_chip(facts(), {7, 3}), nullptr);
  EXPECT_EQ(find_pci_device(facts(), 0), nullptr);
  EXPECT_EQ(host_compilers_of(facts(), version("13.5.0")), nullptr);
  EXPECT_EQ(find_component(facts(), "cuda_nothing"), nullptr);
  EXPECT_EQ(find_source(facts(), "hearsay"), nullptr);
}

TEST(FindRow, WorksOnEmptyTables) {
  EXPECT_EQ(find_release({}, version("12.4.1")), nullptr);
  EXPECT_EQ(was_released({}, 12, 4), Released::unknown);
}

TEST(OtherName, GoesBothWays) {
  const ComponentRow* older = find_component(facts(), "cuda_cccl");
  const ComponentRow* newer = find_component(facts(), "cccl");
  ASSERT_TRUE(older && newer);
  EXPECT_EQ(other_name_of(facts(), *older), newer);
  EXPECT_EQ(other_name_of(facts(), *newer), older);
  EXPECT_EQ(other_name_of(facts(), *find_component(facts(), "cuda_nvcc")), nullptr);
}

TEST(ComponentClassText, IsReadBack) {
  for (const ComponentRow& row : facts().components)
    EXPECT_EQ(parse_component_class(to_text(row.component_class)), row.component_class) << row.name;
  EXPECT_EQ(parse_component_class("big-tool"), ComponentClass::big_tool);
  EXPECT_FALSE(parse_component_class("Driver"));
}

}  // namespace
}  // namespace cudaenv::core
