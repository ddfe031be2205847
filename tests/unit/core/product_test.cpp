// SPDX-License-Identifier: Apache-2.0
#include "core/product.hpp"

#include <array>

#include <gtest/gtest.h>

#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

using Texts = std::vector<std::string>;

const Registry& facts() { return registry::builtin(); }

DottedVersion version(std::string_view text) { return *parse_dotted_version(text); }

// --- What is typed ---

struct SpecRow {
  const char* name;
  const char* typed;
  const char* product;  // null: refused
  const char* version = "";
  bool is_latest = false;
};

class TypedProduct : public testing::TestWithParam<SpecRow> {};

TEST_P(TypedProduct, is_a_name_and_maybe_a_version) {
  const SpecRow& row = GetParam();
  const auto spec = parse_product_spec(row.typed);
  ASSERT_EQ(spec.has_value(), row.product != nullptr);
  if (!row.product) {
    EXPECT_EQ(spec.error().kind, ErrorKind::usage);
    for (const char c : spec.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    return;
  }
  EXPECT_EQ(spec->name, row.product);
  EXPECT_EQ(spec->version ? to_text(spec->version) : "", row.version);
  EXPECT_EQ(spec->is_latest, row.is_latest);
}

constexpr SpecRow k_spec_rows[] = {
    {"name", "cudnn", "cudnn"},
    {"major", "cudnn@9", "cudnn", "9"},
    {"minor", "cudnn@9.14", "cudnn", "9.14"},
    {"own_number", "cudnn@9.14.0.64", "cudnn", "9.14.0.64"},
    {"year", "cuquantum@24.03", "cuquantum", "24.3"},
    {"latest", "cudnn@latest", "cudnn", "", true},
    {"no_name", "@9", nullptr},
    {"empty", "", nullptr},
    {"no_version", "cudnn@", nullptr},
    {"version_with_letters", "cudnn@9.x", nullptr},
    {"two_versions", "cudnn@9@8", nullptr},
    {"six_numbers", "cudnn@1.2.3.4.5.6", nullptr},
    {"control_bytes", "cudnn@\x1b[31m", nullptr},
};

INSTANTIATE_TEST_SUITE_P(Rows, TypedProduct, testing::ValuesIn(k_spec_rows), test::RowName());

struct MatchRow {
  const char* name;
  const char* typed;
  const char* published;
  const char* own;
  bool may;
  bool is;
};

class Match : public testing::TestWithParam<MatchRow> {};

TEST_P(Match, goes_as_far_as_the_numbers_do) {
  const MatchRow& row = GetParam();
  const auto spec = parse_product_spec(row.typed);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->may_match(version(row.published)), row.may);
  EXPECT_EQ(spec->matches(version(row.published), version(row.own)), row.is);
}

constexpr MatchRow k_match_rows[] = {
    {"any", "x", "9.14.0", "9.14.0.64", true, true},
    {"major", "x@9", "9.14.0", "9.14.0.64", true, true},
    {"other_major", "x@8", "9.14.0", "9.14.0.64", false, false},
    {"minor", "x@9.14", "9.14.0", "9.14.0.64", true, true},
    {"minor_is_no_prefix", "x@9.1", "9.14.0", "9.14.0.64", false, false},
    {"own_number", "x@9.14.0.64", "9.14.0", "9.14.0.64", true, true},
    {"other_own_number", "x@9.14.0.65", "9.14.0", "9.14.0.64", true, false},
    {"four_numbers", "x@2.0.2.1", "2.0.2.1", "2.0.2.5", true, true},
    {"zeros_in_front", "x@24.3", "24.03", "1.0", true, true},
};

INSTANTIATE_TEST_SUITE_P(Rows, Match, testing::ValuesIn(k_match_rows), test::RowName());

// --- Names ---

TEST(Product, is_found_by_the_names_that_people_type) {
  for (const char* typed : {"cusparselt", "cuSPARSELt", "libcusparse_lt", "libcusparse-lt", "cusparse_lt"}) {
    const ProductRow* row = find_product(facts(), typed);
    ASSERT_NE(row, nullptr) << typed;
    EXPECT_EQ(row->name, "cusparselt");
  }
  EXPECT_EQ(find_product(facts(), "nccl"), nullptr);
  EXPECT_EQ(find_product(facts(), ""), nullptr);
}

struct RefusedRow {
  const char* name;
  const char* typed;
  const char* message;
  const char* hint;
};

class NoProduct : public testing::TestWithParam<RefusedRow> {};

TEST_P(NoProduct, is_answered_with_what_to_do) {
  const RefusedRow& row = GetParam();
  const auto product = require_product(facts(), row.typed, Version{12, 8, 1});
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().kind, ErrorKind::not_found);
  EXPECT_NE(product.error().message.find(row.message), std::string::npos) << product.error().message;
  EXPECT_EQ(product.error().hint, row.hint);
}

constexpr RefusedRow k_refused_rows[] = {
    {"nccl", "nccl", "no manifest of nccl", "pip install nvidia-nccl-cu12"},
    {"nccl_as_a_library", "libnccl2", "no manifest of nccl", "pip install nvidia-nccl-cu12"},
    {"tensorrt", "TensorRT", "no manifest of tensorrt", "pip install tensorrt-cu12"},
    {"component", "nsight-compute", "nsight_compute is a component of the toolkit itself",
     "cudaenv install 12.8.1 --with nsight_compute --force"},
    {"component_by_its_short_name", "cublas", "libcublas is a component of the toolkit itself",
     "cudaenv install 12.8.1 --with libcublas --force"},
    {"misspelt", "cudn", "there is no product \"cudn\"", "cudaenv add cudnn"},
    {"unknown", "zzzzzz", "there is no product \"zzzzzz\"", "cudaenv help add"},
    {"control_bytes", "\x1b[31m", "there is no product \"\\x1b[31m\"", "cudaenv help add"},
};

INSTANTIATE_TEST_SUITE_P(Rows, NoProduct, testing::ValuesIn(k_refused_rows), test::RowName());

TEST(Product, without_a_toolkit_gets_the_command_for_the_newest_major) {
  const auto product = require_product(facts(), "nccl", std::nullopt);
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().hint, "pip install nvidia-nccl-cu" + std::to_string(facts().majors.back().major));
}

// --- Versions ---

TEST(ProductVersion, is_kept_as_the_manifests_name_has_it) {
  const auto year = version_of_manifest_name("redistrib_24.03.0.json");
  ASSERT_TRUE(year);
  EXPECT_EQ(year->text, "24.03.0");
  EXPECT_EQ(to_text(year->number), "24.3.0");
  EXPECT_EQ(manifest_name(year->text), "redistrib_24.03.0.json");
  EXPECT_TRUE(version_of_manifest_name("redistrib_23.11.json"));
  EXPECT_TRUE(version_of_manifest_name("redistrib_2.0.2.1.json"));
  for (const char* name : {"redistrib_9.json", "redistrib_.json", "redistrib_9.14.0.json.txt", "redistrib_9.x.json",
                           "redistrib-v2.schema.json", "LICENSE"})
    EXPECT_FALSE(version_of_manifest_name(name)) << name;
}

Texts texts_of(const std::vector<ProductVersion>& versions) {
  Texts texts;
  for (const ProductVersion& version : versions) texts.push_back(version.text);
  return texts;
}

TEST(ProductVersion, candidates_are_the_newest_first_by_number) {
  std::vector<ProductVersion> published;
  for (const char* text : {"9.2.0", "9.14.0", "8.9.7", "9.2.1", "9.14.0.1"}) published.push_back({text, version(text)});
  EXPECT_EQ(texts_of(candidates(published, {"cudnn"})), (Texts{"9.14.0.1", "9.14.0", "9.2.1", "9.2.0", "8.9.7"}));
  EXPECT_EQ(texts_of(candidates(published, {"cudnn", version("9.2")})), (Texts{"9.2.1", "9.2.0"}));
  EXPECT_EQ(texts_of(candidates(published, {"cudnn", version("9.2.0.82")})), (Texts{"9.2.0"}));
  EXPECT_EQ(texts_of(candidates(published, {"cudnn", version("7")})), Texts{});
}

TEST(ProductVersion, known_ones_are_of_the_folder) {
  const ProductRow& jit = *find_product(facts(), "cudnn_jit");
  const auto versions = candidates(known_versions(facts(), jit), {"cudnn_jit"});
  ASSERT_FALSE(versions.empty());
  EXPECT_EQ(versions.front().text, "9.14.0");
  EXPECT_EQ(known_digest(facts(), jit, version("9.14.0")).size(), 64u);
  EXPECT_EQ(known_digest(facts(), jit, version("99.0.0")), "");
}

// --- What fits a toolkit ---

Component component(std::string name, std::string number, const std::vector<std::string>& variants,
                    std::string platform = "linux-x86_64") {
  Component made;
  made.name = std::move(name);
  made.version = std::move(number);
  PlatformArchives archives{std::move(platform), {}};
  for (const std::string& variant : variants)
    archives.by_variant.emplace_back(variant, Archive{made.name + variant, "", 1});
  made.platforms.push_back(std::move(archives));
  return made;
}

struct FitRow {
  const char* name;
  const char* product;
  const char* version;
  std::vector<Component> components;
  Version release;
  Texts paths;  // of the archives that are taken
  Texts builds;
  const char* lib_directory = "";
};

class Fit : public testing::TestWithParam<FitRow> {};

TEST_P(Fit, takes_what_was_built_for_the_toolkits_cuda) {
  const FitRow& row = GetParam();
  const ProductRow* product = find_product(facts(), row.product);
  ASSERT_NE(product, nullptr);
  Manifest manifest;
  manifest.components = row.components;
  const ProductFit fit = fit_of(manifest, *product, facts(), version(row.version), row.release, "linux-x86_64");
  Texts paths;
  for (const PlannedComponent& planned : fit.components) {
    paths.push_back(planned.archive.relative_path);
    EXPECT_EQ(planned.product, product->name);
    EXPECT_EQ(planned.place, product->place);
    EXPECT_EQ(planned.lib_directory, row.lib_directory);
    EXPECT_EQ(planned.component, manifest.find(planned.component->name));
  }
  EXPECT_EQ(paths, row.paths);
  EXPECT_EQ(fit.builds, row.builds);
}

const Component k_cudnn = component("cudnn", "9.14.0.64", {"cuda12", "cuda13"});
const Component k_samples = component("cudnn_samples", "9.14.0.64", {""}, "source");

const FitRow k_fit_rows[] = {
    {"nested", "cudnn", "9.14.0", {k_cudnn, k_samples}, {13, 0, 2}, {"cudnncuda13"}, {"12", "13"}},
    {"nested_other_major", "cudnn", "9.14.0", {k_cudnn}, {12, 8, 1}, {"cudnncuda12"}, {"12", "13"}},
    {"nested_without_the_major", "cudnn", "9.14.0", {k_cudnn}, {11, 8, 0}, {}, {"12", "13"}},
    {"nested_by_minor",
     "cudnn",
     "99.0.0",
     {component("cudnn", "9", {"cuda13", "cuda13.5"})},
     {13, 5, 0},
     {"cudnncuda13.5"},
     {"13", "13.5"}},
    {"component_of_its_own", "cudnn_samples", "9.14.0", {k_cudnn, k_samples}, {12, 8, 1}, {"cudnn_samples"}, {}},
    {"absent_component", "cudnn_jit", "9.9.0", {k_cudnn}, {12, 8, 1}, {}, {}},
    {"other_platform", "cudnn", "9.14.0", {component("cudnn", "9", {"cuda12"}, "linux-sbsa")}, {12, 8, 1}, {}, {}},
    {"flat",
     "cusparselt",
     "0.7.1",
     {component("libcusparse_lt", "0.7.1.0", {""})},
     {12, 8, 1},
     {"libcusparse_lt"},
     {"12"}},
    {"flat_for_another_major",
     "cusparselt",
     "0.7.1",
     {component("libcusparse_lt", "0.7.1.0", {""})},
     {11, 8, 0},
     {},
     {"12"}},
    {"flat_by_directory",
     "cutensor",
     "2.0.2.1",
     {component("libcutensor", "2.0.2.5", {""})},
     {11, 8, 0},
     {"libcutensor"},
     {"11", "12"},
     "11"},
    {"flat_by_directory_other",
     "cutensor",
     "2.0.2",
     {component("libcutensor", "2.0.2.4", {""})},
     {12, 4, 1},
     {"libcutensor"},
     {"11", "12"},
     "12"},
    {"flat_of_an_unknown_version",
     "cutensor",
     "2.2.9",
     {component("libcutensor", "2.2.9.0", {""})},
     {12, 4, 1},
     {},
     {}},
    {"flat_for_any_cuda",
     "nvpl",
     "25.5",
     {component("nvpl_blas", "0.4", {""}), component("nvpl_fft", "0.4", {""})},
     {13, 0, 2},
     {"nvpl_blas", "nvpl_fft"},
     {}},
    {"all_or_nothing",
     "cublasmp",
     "0.4.0",
     {component("libcal", "0.4", {"cuda12", "cuda13"}), component("libcublasmp", "0.4", {"cuda12"})},
     {13, 0, 2},
     {},
     {"12", "13"}},
};

INSTANTIATE_TEST_SUITE_P(Rows, Fit, testing::ValuesIn(k_fit_rows), test::RowName());

TEST(ProductFit, own_number_is_a_components) {
  Manifest manifest;
  manifest.components = {k_cudnn};
  const ProductRow& cudnn = *find_product(facts(), "cudnn");
  EXPECT_TRUE(has_own_number(manifest, cudnn, {"cudnn", version("9.14.0.64")}, version("9.14.0")));
  EXPECT_FALSE(has_own_number(manifest, cudnn, {"cudnn", version("9.14.0.65")}, version("9.14.0")));
  EXPECT_TRUE(has_own_number(manifest, cudnn, {"cudnn", version("9")}, version("9.14.0")));
}

// --- Refusals ---

TEST(NoFit, tells_what_there_is_and_what_would_do) {
  const ProductRow& cudnn = *find_product(facts(), "cudnn");
  const auto seen = [](const char* text, Texts builds, bool fits = false) {
    return SeenVersion{{text, version(text)}, std::move(builds), fits};
  };
  const std::array versions{seen("9.14.0", {"12", "13"}), seen("9.12.0", {"12", "13"}), seen("9.11.0", {"12"}),
                            seen("8.9.7", {"11", "12"}), seen("8.9.0", {})};
  const Error error = no_fit(cudnn, {"cudnn"}, {11, 4, 4}, "linux-x86_64", versions);
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_EQ(error.message, "cudnn has no archive for CUDA 11.4.4 (linux-x86_64)");
  EXPECT_EQ(error.details, (Texts{"9.12.0 to 9.14.0: for CUDA 12 and 13", "9.11.0: for CUDA 12",
                                  "8.9.7: for CUDA 11 and 12", "8.9.0: none that is known to fit this platform"}));
  EXPECT_EQ(error.hint, "cudaenv install 13 --add cudnn");

  const std::array with_one{seen("9.14.0", {"12", "13"}, true), seen("8.9.7", {"11", "12"})};
  const Error other = no_fit(cudnn, {"cudnn", version("8.9")}, {13, 0, 2}, "linux-x86_64", with_one);
  EXPECT_EQ(other.message, "cudnn@8.9 has no archive for CUDA 13.0.2 (linux-x86_64)");
  EXPECT_EQ(other.hint, "cudaenv add cudnn@9.14.0 --to 13.0.2");
}

TEST(NoFit, a_version_that_is_not_published_names_its_neighbours) {
  const ProductRow& cudnn = *find_product(facts(), "cudnn");
  std::vector<ProductVersion> published;
  for (const char* text : {"8.9.7", "9.13.0", "9.14.0"}) published.push_back({text, version(text)});
  const Error error = no_such_version(cudnn, {"cudnn", version("8.4")}, published);
  EXPECT_EQ(error.message, "cudnn 8.4 is not published");
  EXPECT_EQ(error.details, Texts{"published: 8.9.7 to 9.14.0"});
  EXPECT_EQ(error.hint, "cudaenv add cudnn@8.9.7");
  EXPECT_EQ(no_such_version(cudnn, {"cudnn", version("10")}, published).hint, "cudaenv add cudnn@9.14.0");
}

}  // namespace
}  // namespace cudaenv::core
