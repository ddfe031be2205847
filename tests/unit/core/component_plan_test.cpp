// SPDX-License-Identifier: Apache-2.0
#include "core/component_plan.hpp"

#include <algorithm>

#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"
#include "sample_manifest.hpp"

namespace cudaenv::core {
namespace {

using Names = std::vector<std::string>;

Names names_of(const ComponentPlan& plan) {
  Names names;
  for (const PlannedComponent& planned : plan.components) names.push_back(planned.component->name);
  return names;
}

struct Row {
  const char* name;
  const char* release;
  ComponentChoice choice;
  Names planned;
  const char* platform = "linux-x86_64";
};

class Plan : public testing::TestWithParam<Row> {};

TEST_P(Plan, takes_exactly_these) {
  const Row& row = GetParam();
  const Manifest manifest = test::sample_manifest(row.release);
  const auto plan =
      plan_components(manifest, registry::builtin(), *parse_version(row.release), row.platform, row.choice);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(*plan), row.planned);
}

constexpr Profile k_minimal = Profile::minimal;
constexpr Profile k_default = Profile::standard;
constexpr Profile k_full = Profile::full;

const Row k_rows[] = {
    // Profiles.
    {"v11_8_minimal", "11.8.0", {k_minimal, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"v11_8_default", "11.8.0", {k_default, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_memcheck", "cuda_nvcc"}},
    {"v11_8_full_has_no_driver",
     "11.8.0",
     {k_full, {}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_memcheck", "cuda_nvcc"}},
    {"v12_4_default_has_no_big_tool", "12.4.1", {k_default, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"v12_4_full", "12.4.1", {k_full, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "nsight_systems"}},
    {"v12_8_minimal", "12.8.1", {k_minimal, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"v12_8_default",
     "12.8.1",
     {k_default, {}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "libcublas", "libcusolver", "libcusparse", "libnvjitlink"}},
    {"DL_03_v13_0_minimal",
     "13.0.2",
     {k_minimal, {}, {}},
     {"cuda_cccl", "cuda_crt", "cuda_cudart", "cuda_culibos", "cuda_nvcc", "libnvptxcompiler", "libnvvm"}},
    {"v13_3_minimal", "13.3.1", {k_minimal, {}, {}}, {"cccl", "cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"}},
    {"DL_04_v13_3_full_has_no_kernel_module",
     "13.3.1",
     {k_full, {}, {}},
     {"cccl", "cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"}},
    // Platforms: what a component lacks is skipped.
    {"power_lacks_cccl", "12.4.1", {k_default, {}, {}}, {"cuda_cudart", "cuda_nvcc"}, "linux-ppc64le"},
    {"jetson", "11.8.0", {k_full, {}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}, "linux-aarch64"},
    {"arm_server",
     "13.0.2",
     {k_minimal, {}, {}},
     {"cuda_cccl", "cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"},
     "linux-sbsa"},
    // With.
    {"with_brings_all_that_it_needs",
     "12.8.1",
     {k_minimal, {"libcusolver"}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "libcublas", "libcusolver", "libcusparse", "libnvjitlink"}},
    {"with_what_is_there_already", "12.8.1", {k_minimal, {"cuda_nvcc"}, {}}, {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"with_twice",
     "12.4.1",
     {k_minimal, {"nsight_systems", "nsight_systems"}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "nsight_systems"}},
    {"with_a_driver_by_its_name",
     "11.8.0",
     {k_minimal, {"nvidia_driver"}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "nvidia_driver"}},
    {"with_compat_by_its_name",
     "13.3.1",
     {k_minimal, {"cuda_compat"}, {}},
     {"cccl", "cuda_compat", "cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"}},
    {"with_one_the_registry_does_not_know",
     "12.8.1",
     {k_minimal, {"cuda_future"}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_future", "cuda_nvcc"}},
    {"with_the_new_name_in_an_old_release",
     "12.8.1",
     {k_minimal, {"cccl"}, {}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"with_the_old_name_in_a_new_release",
     "13.3.1",
     {k_minimal, {"cuda_cccl"}, {}},
     {"cccl", "cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"}},
    // Without.
    {"without_one_that_another_needs", "12.8.1", {k_minimal, {}, {"cuda_cudart"}}, {"cuda_cccl", "cuda_nvcc"}},
    {"without_stops_at_it",
     "12.8.1",
     {k_minimal, {"libcusolver"}, {"libcusparse"}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc", "libcublas", "libcusolver", "libnvjitlink"}},
    {"without_by_the_old_name",
     "13.3.1",
     {k_minimal, {}, {"cuda_cccl"}},
     {"cuda_crt", "cuda_cudart", "cuda_nvcc", "libnvvm"}},
    {"without_by_the_new_name", "12.8.1", {k_minimal, {}, {"cccl"}}, {"cuda_cudart", "cuda_nvcc"}},
    {"without_what_the_release_never_had",
     "12.8.1",
     {k_minimal, {}, {"libnvvm"}},
     {"cuda_cccl", "cuda_cudart", "cuda_nvcc"}},
    {"without_one_that_lacks_the_platform",
     "12.4.1",
     {k_minimal, {}, {"cuda_cccl"}},
     {"cuda_cudart", "cuda_nvcc"},
     "linux-ppc64le"},
};

INSTANTIATE_TEST_SUITE_P(Rows, Plan, testing::ValuesIn(k_rows), test::RowName());

// --- What is refused ---

struct RefusedRow {
  const char* name;
  const char* release;
  ComponentChoice choice;
  ErrorKind kind;
  const char* message;
  const char* hint = "";
  const char* platform = "linux-x86_64";
};

class RefusedPlan : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedPlan, says_why) {
  const RefusedRow& row = GetParam();
  const Manifest manifest = test::sample_manifest(row.release);
  const auto plan =
      plan_components(manifest, registry::builtin(), *parse_version(row.release), row.platform, row.choice);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, row.kind);
  EXPECT_EQ(plan.error().message, row.message);
  EXPECT_EQ(plan.error().hint, row.hint);
}

const RefusedRow k_refused_rows[] = {
    {"misspelt_with",
     "12.8.1",
     {k_minimal, {"libcublass"}, {}},
     ErrorKind::not_found,
     "CUDA 12.8.1 has no component \"libcublass\"",
     "cudaenv install 12.8.1 --with libcublas"},
    {"two_may_be_meant",
     "12.8.1",
     {k_minimal, {"libcusplver"}, {}},
     ErrorKind::not_found,
     "CUDA 12.8.1 has no component \"libcusplver\"",
     "cudaenv install 12.8.1 --with libcusolver"},
    {"misspelt_without",
     "12.8.1",
     {k_minimal, {}, {"cuda_nvc"}},
     ErrorKind::not_found,
     "CUDA 12.8.1 has no component \"cuda_nvc\"",
     "cudaenv install 12.8.1 --without cuda_nvcc"},
    {"nothing_like_it",
     "12.8.1",
     {k_minimal, {"something\x1b"}, {}},
     ErrorKind::not_found,
     "CUDA 12.8.1 has no component \"something\\x1b\"",
     "cudaenv install 12.8.1 --profile full --dry-run"},
    {"known_but_not_in_this_release",
     "12.8.1",
     {k_minimal, {"libnvvm"}, {}},
     ErrorKind::not_found,
     "CUDA 12.8.1 has no component \"libnvvm\"",
     "cudaenv install 12.8.1 --profile full --dry-run"},
    {"not_for_the_platform",
     "12.4.1",
     {k_minimal, {"nsight_systems"}, {}},
     ErrorKind::not_found,
     "component nsight_systems of CUDA 12.4.1 has no archive for linux-sbsa",
     "",
     "linux-sbsa"},
    {"only_for_windows",
     "13.0.2",
     {k_minimal, {"nsight_vse"}, {}},
     ErrorKind::not_found,
     "component nsight_vse of CUDA 13.0.2 has no archive for linux-x86_64"},
    {"for_all_is_not_for_this_one",
     "12.8.1",
     {k_minimal, {"driver_assistant"}, {}},
     ErrorKind::not_found,
     "component driver_assistant of CUDA 12.8.1 has no archive for linux-x86_64"},
    {"with_and_without",
     "12.8.1",
     {k_minimal, {"libcublas"}, {"libcublas"}},
     ErrorKind::usage,
     "--with and --without both name libcublas"},
    {"with_and_without_under_two_names",
     "12.8.1",
     {k_minimal, {"cccl"}, {"cuda_cccl"}},
     ErrorKind::usage,
     "--with and --without both name cuda_cccl"},
    {"nothing_left",
     "11.8.0",
     {k_minimal, {}, {"cuda_nvcc", "cuda_cudart", "cuda_cccl"}},
     ErrorKind::not_found,
     "no component of CUDA 11.8.0 is left to install"},
};

INSTANTIATE_TEST_SUITE_P(Rows, RefusedPlan, testing::ValuesIn(k_refused_rows), test::RowName());

// --- Variants ---

struct VariantRow {
  const char* name;
  std::vector<std::string> variants;
  Version release;
  const char* chosen;  // null: none fits
};

class Variant : public testing::TestWithParam<VariantRow> {};

TEST_P(Variant, is_the_one_built_for_the_release) {
  const VariantRow& row = GetParam();
  Manifest manifest;
  Component component;
  component.name = "cuda_nvcc";
  component.platforms.push_back({"linux-x86_64", {}});
  for (const std::string& variant : row.variants)
    component.platforms[0].by_variant.emplace_back(variant, Archive{variant, "", 1});
  manifest.components.push_back(component);
  const auto plan = plan_components(manifest, registry::builtin(), row.release, "linux-x86_64", {});
  ASSERT_EQ(plan.has_value(), row.chosen != nullptr);
  if (row.chosen) {
    EXPECT_EQ(plan->components[0].archive.relative_path, row.chosen);
  }
}

const VariantRow k_variant_rows[] = {
    {"exact_before_major", {"cuda13", "cuda13.3"}, {13, 3, 1}, "cuda13.3"},
    {"major", {"cuda12", "cuda13"}, {13, 3, 1}, "cuda13"},
    {"minor_is_matched_whole", {"cuda13.1", "cuda13.10"}, {13, 10, 0}, "cuda13.10"},
    {"flat", {""}, {13, 3, 1}, ""},
    {"the_only_one", {"cuda13.2"}, {13, 3, 1}, "cuda13.2"},
    {"without_the_word", {"12", "13"}, {13, 3, 1}, "13"},
    {"newest_minor_that_is_not_newer", {"cuda13.5", "cuda13.2", "cuda13.0"}, {13, 3, 1}, "cuda13.2"},
    {"none_of_two_newer_minors", {"cuda13.5", "cuda13.4"}, {13, 3, 1}, nullptr},
    {"none_of_two", {"cuda11", "cuda12"}, {13, 3, 1}, nullptr},
};

INSTANTIATE_TEST_SUITE_P(Rows, Variant, testing::ValuesIn(k_variant_rows), test::RowName());

// --- The plan as a whole ---

TEST(ComponentPlan, words_for_files_leave_out_no_component) {
  const Manifest manifest = test::sample_manifest("12.8.1");
  const Version release{12, 8, 1};
  const auto all = plan_components(manifest, registry::builtin(), release, "linux-x86_64", {k_minimal, {}, {}});
  const auto plan = plan_components(manifest, registry::builtin(), release, "linux-x86_64",
                                    {k_minimal, {}, {"static", "cuda_cccl", "samples"}});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(*plan), (Names{"cuda_cudart", "cuda_nvcc"}));
  EXPECT_EQ(names_of(*all).size(), 3u);
  for (const auto& [needed, by] : plan->unmet) EXPECT_EQ(needed, "cuda_cccl");
}

TEST(ComponentPlan, words_for_files_may_have_been_meant) {
  const Manifest manifest = test::sample_manifest("12.8.1");
  const auto plan = [&](const ComponentChoice& choice) {
    return plan_components(manifest, registry::builtin(), Version{12, 8, 1}, "linux-x86_64", choice);
  };
  EXPECT_EQ(plan({k_minimal, {}, {"sttaic"}}).error().hint, "cudaenv install 12.8.1 --without static");
  EXPECT_EQ(plan({k_minimal, {}, {"sample"}}).error().hint, "cudaenv install 12.8.1 --without samples");
  EXPECT_EQ(plan({k_minimal, {"static"}, {}}).error().kind, ErrorKind::not_found);
  EXPECT_EQ(plan({k_minimal, {"sttaic"}, {}}).error().hint, "cudaenv install 12.8.1 --profile full --dry-run");
}

TEST(ComponentPlan, unknown_components_are_told_and_left_out) {
  const Manifest manifest = test::sample_manifest("12.8.1");
  ComponentChoice choice{k_full, {}, {}};
  const auto plan = plan_components(manifest, registry::builtin(), {12, 8, 1}, "linux-x86_64", choice);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->unknown, Names{"cuda_future"});
  EXPECT_EQ(plan->find("cuda_future"), nullptr);
  choice.with = {"cuda_future"};
  const auto wider = plan_components(manifest, registry::builtin(), {12, 8, 1}, "linux-x86_64", choice);
  ASSERT_TRUE(wider);
  EXPECT_TRUE(wider->unknown.empty());
  ASSERT_NE(wider->find("cuda_future"), nullptr);
  EXPECT_EQ(wider->find("cuda_future")->row, nullptr);
}

TEST(ComponentPlan, download_size_is_the_sum) {
  const Manifest manifest = test::sample_manifest("12.4.1");
  const auto plan = plan_components(manifest, registry::builtin(), {12, 4, 1}, "linux-x86_64", {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->download_size(), 1100u + 900u + 41000u);
}

TEST(ComponentPlan, DL_04_holds_of_every_sample_and_profile) {
  for (const char* release : {"11.8.0", "12.4.1", "12.8.1", "13.0.2", "13.3.1"}) {
    const Manifest manifest = test::sample_manifest(release);
    for (const char* platform : {"linux-x86_64", "linux-sbsa", "linux-aarch64", "linux-ppc64le"}) {
      Names smaller;
      for (const Profile profile : {k_minimal, k_default, k_full}) {
        SCOPED_TRACE(std::string(release) + " " + platform + " " + std::string(to_text(profile)));
        const auto plan =
            plan_components(manifest, registry::builtin(), *parse_version(release), platform, {profile, {}, {}});
        if (!plan) continue;
        for (const PlannedComponent& planned : plan->components) {
          EXPECT_FALSE(planned.archive.sha256.empty());
          EXPECT_NE(planned.archive.relative_path.find(platform), std::string::npos) << planned.archive.relative_path;
          ASSERT_NE(planned.row, nullptr);
          EXPECT_TRUE(is_in_full_profile(planned.row->component_class)) << planned.component->name;
        }
        const Names names = names_of(*plan);
        EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
        EXPECT_TRUE(std::includes(names.begin(), names.end(), smaller.begin(), smaller.end()));
        smaller = names;
      }
    }
  }
}

TEST(Profile, text_and_back) {
  for (const Profile profile : {k_minimal, k_default, k_full}) EXPECT_EQ(parse_profile(to_text(profile)), profile);
  EXPECT_EQ(to_text(k_default), "default");
  EXPECT_EQ(parse_profile("standard"), std::nullopt);
  EXPECT_EQ(parse_profile(""), std::nullopt);
}

}  // namespace
}  // namespace cudaenv::core
