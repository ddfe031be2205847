// SPDX-License-Identifier: Apache-2.0
#include "core/platform.hpp"

#include "core/version_text.hpp"
#include "named_rows.hpp"
#include "sample_manifest.hpp"

namespace cudaenv::core {
namespace {

struct Row {
  const char* name;
  const char* cpu;
  bool is_tegra;
  Version release;
  const char* platform;  // null: refused
};

class Platform : public testing::TestWithParam<Row> {};

TEST_P(Platform, is_what_nvidia_built_for_the_machine) {
  const Row& row = GetParam();
  const Manifest manifest = test::sample_manifest(to_text(row.release));
  const auto platform = platform_for({row.cpu, row.is_tegra}, row.release, manifest);
  if (row.platform) {
    ASSERT_TRUE(platform) << platform.error().message;
    EXPECT_EQ(*platform, row.platform);
  } else {
    ASSERT_FALSE(platform) << *platform;
    EXPECT_EQ(platform.error().kind, ErrorKind::not_found);
    EXPECT_NE(platform.error().message.find("CUDA " + to_text(row.release)), std::string::npos);
    ASSERT_FALSE(platform.error().details.empty());
    EXPECT_NE(platform.error().details[0].find("linux-x86_64"), std::string::npos);
  }
}

constexpr Row k_rows[] = {
    {"DL_06_pc", "x86_64", false, {12, 4, 1}, "linux-x86_64"},
    {"DL_06_arm_server", "aarch64", false, {12, 4, 1}, "linux-sbsa"},
    {"DL_06_arm_server_by_another_name", "arm64", false, {12, 4, 1}, "linux-sbsa"},
    {"DL_06_arm_server_with_13", "aarch64", false, {13, 0, 2}, "linux-sbsa"},
    {"DL_06_jetson", "aarch64", true, {12, 4, 1}, "linux-aarch64"},
    {"DL_06_jetson_with_13", "aarch64", true, {13, 0, 2}, "linux-sbsa"},
    {"DL_06_power", "ppc64le", false, {12, 4, 1}, "linux-ppc64le"},
    {"DL_06_power_after_its_end", "ppc64le", false, {12, 8, 1}, nullptr},
    {"arm_server_before_its_archives", "aarch64", false, {11, 8, 0}, nullptr},
    {"jetson_where_it_was_left_out", "aarch64", true, {12, 8, 1}, nullptr},
    {"tegra_marks_nothing_on_a_pc", "x86_64", true, {12, 4, 1}, "linux-x86_64"},
    {"other_cpu", "riscv64", false, {13, 0, 2}, nullptr},
    {"no_cpu", "", false, {12, 4, 1}, nullptr},
};

INSTANTIATE_TEST_SUITE_P(Rows, Platform, testing::ValuesIn(k_rows), test::RowName());

TEST(PlatformCheck, takes_what_a_person_named_if_a_toolkit_can_be_made_for_it) {
  const Manifest manifest = test::sample_manifest("12.8.1");
  EXPECT_TRUE(check_platform("linux-sbsa", {12, 8, 1}, manifest));
  for (const char* platform : {"linux-all", "linux-ppc64le", "x86_64", "", "linux-", "../linux-x86_64", "\x1b[31m"}) {
    const auto checked = check_platform(platform, {12, 8, 1}, manifest);
    ASSERT_FALSE(checked) << platform;
    EXPECT_EQ(checked.error().kind, ErrorKind::not_found) << platform;
    EXPECT_EQ(checked.error().details, std::vector<std::string>{"there are some for linux-sbsa, linux-x86_64"});
    EXPECT_EQ(checked.error().message.find('\x1b'), std::string::npos);
  }
}

TEST(PlatformCheck, windows_archives_make_no_toolkit) {
  for (const char* release : {"11.8.0", "13.0.2"})
    EXPECT_FALSE(check_platform("windows-x86_64", *parse_version(release), test::sample_manifest(release)));
}

TEST(PlatformCheck, hostile_platform_names_are_shown_harmlessly) {
  Manifest manifest;
  Component component;
  component.platforms.push_back({"linux-\x1b[31m", {}});
  manifest.components.push_back(component);
  const auto checked = check_platform("linux-x86_64", {12, 8, 1}, manifest);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().details[0].find('\x1b'), std::string::npos);
}

TEST(TargetDirectory, is_what_nvcc_looks_for) {
  EXPECT_EQ(target_directory("linux-x86_64"), "x86_64-linux");
  EXPECT_EQ(target_directory("linux-sbsa"), "sbsa-linux");
  EXPECT_EQ(target_directory("linux-aarch64"), "aarch64-linux");
  EXPECT_EQ(target_directory("linux-ppc64le"), "ppc64le-linux");
}

}  // namespace
}  // namespace cudaenv::core
