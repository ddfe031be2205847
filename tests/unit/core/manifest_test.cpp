// SPDX-License-Identifier: Apache-2.0
#include "core/manifest.hpp"

#include "named_rows.hpp"
#include "sample_manifest.hpp"

namespace cudaenv::core {
namespace {

using test::sample_manifest;

Result<Manifest> parse(const std::string& text) {
  const auto document = base::parse_json(text);
  if (!document) return fail(document.error());
  return parse_manifest(*document);
}

const std::string k_sha(64, 'a');

// --- Forms ---

TEST(ManifestForms, flat_with_sizes_as_texts_and_without_a_label) {
  const Manifest manifest = sample_manifest("11.8.0");
  EXPECT_EQ(manifest.release_date, "2022-10-03");
  EXPECT_EQ(manifest.release_label, "");
  EXPECT_EQ(manifest.release_product, "");
  const Component* nvcc = manifest.find("cuda_nvcc");
  ASSERT_NE(nvcc, nullptr);
  EXPECT_EQ(nvcc->human_name, "CUDA NVCC");
  EXPECT_EQ(nvcc->license, "CUDA Toolkit");
  EXPECT_EQ(nvcc->license_path, "");
  EXPECT_EQ(nvcc->version, "11.8.89");
  const PlatformArchives* archives = nvcc->archives_for("linux-ppc64le");
  ASSERT_NE(archives, nullptr);
  ASSERT_EQ(archives->by_variant.size(), 1u);
  EXPECT_EQ(archives->by_variant[0].first, "");
  const Archive& archive = archives->by_variant[0].second;
  EXPECT_EQ(archive.relative_path, "cuda_nvcc/linux-ppc64le/cuda_nvcc-linux-ppc64le-11.8.89-archive.tar.xz");
  EXPECT_EQ(archive.size, 40001u);
  EXPECT_EQ(archive.sha256.size(), 64u);
}

TEST(ManifestForms, sizes_as_numbers_and_unknown_scalars) {
  const Manifest manifest = sample_manifest("12.8.1");
  EXPECT_EQ(manifest.release_label, "12.8.1");
  EXPECT_EQ(manifest.release_product, "cuda");
  EXPECT_EQ(manifest.find("revision"), nullptr);
  EXPECT_EQ(manifest.find("cuda_nvcc")->archives_for("linux-x86_64")->by_variant[0].second.size, 51000u);
}

TEST(ManifestForms, nested_by_cuda_variant) {
  const Manifest manifest = sample_manifest("13.3.1");
  const PlatformArchives* archives = manifest.find("cuda_compat")->archives_for("linux-x86_64");
  ASSERT_NE(archives, nullptr);
  ASSERT_EQ(archives->by_variant.size(), 3u);
  EXPECT_EQ(archives->by_variant[1].first, "cuda13.3");
  EXPECT_EQ(archives->by_variant[1].second.size, 60001u);
  EXPECT_EQ(manifest.find("cuda_compat")->archives_for("cuda_variant"), nullptr);
}

TEST(ManifestForms, components_are_sorted_whatever_their_order) {
  const auto manifest = parse(R"({"b": {}, "a": {}, "c": {}})");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->components[0].name, "a");
  EXPECT_EQ(manifest->components[2].name, "c");
}

TEST(ManifestForms, unknown_members_are_skipped) {
  const auto manifest = parse(R"({"release_date": 7, "list": [], "none": null,
      "c": {"name": 1, "homepage": "x", "tags": ["y"], "extra": {"deeper": {"x": 1}},
            "linux-x86_64": {"cuda12": 3, "note": {}}}})");
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->release_date, "");
  ASSERT_EQ(manifest->components.size(), 1u);
  EXPECT_EQ(manifest->components[0].human_name, "");
  EXPECT_TRUE(manifest->components[0].platforms.empty());
}

// --- Hostile values ---

struct HostileRow {
  const char* name;
  std::string path = "c/c.tar.xz";
  std::string sha256 = "\"" + k_sha + "\"";
  std::string size = "\"7\"";
  bool is_good = false;
};

class HostileArchive : public testing::TestWithParam<HostileRow> {};

TEST_P(HostileArchive, makes_the_manifest_unusable_in_either_form) {
  const HostileRow& row = GetParam();
  const std::string archive = "{\"relative_path\": \"" + row.path + "\"" +
                              (row.sha256.empty() ? "" : ", \"sha256\": " + row.sha256) +
                              (row.size.empty() ? "" : ", \"size\": " + row.size) + "}";
  for (const std::string& platform : {archive, "{\"cuda12\": " + archive + "}"}) {
    const auto manifest = parse("{\"c\": {\"linux-x86_64\": " + platform + "}}");
    ASSERT_EQ(manifest.has_value(), row.is_good) << platform;
    if (row.is_good) continue;
    EXPECT_EQ(manifest.error().kind, ErrorKind::integrity);
    EXPECT_NE(manifest.error().message.find("c linux-x86_64"), std::string::npos) << manifest.error().message;
    for (const char c : manifest.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

const HostileRow k_hostile_rows[] = {
    {.name = "good", .is_good = true},
    {.name = "path_empty", .path = ""},
    {.name = "path_of_parents", .path = "../c.tar.xz"},
    {.name = "path_with_parents_inside", .path = "c/../../c.tar.xz"},
    {.name = "path_ends_with_parents", .path = "c/.."},
    {.name = "path_with_a_dot_part", .path = "./c.tar.xz"},
    {.name = "path_with_an_empty_part", .path = "c//c.tar.xz"},
    {.name = "path_absolute", .path = "/etc/passwd"},
    {.name = "path_is_a_directory", .path = "c/"},
    {.name = "path_with_a_scheme", .path = "https://example.com/c.tar.xz"},
    {.name = "path_with_another_host", .path = "//example.com/c.tar.xz"},
    {.name = "path_with_a_back_slash", .path = "c\\\\..\\\\c.tar.xz"},
    {.name = "path_with_percent", .path = "c/%2e%2e/c.tar.xz"},
    {.name = "path_with_a_query", .path = "c.tar.xz?x=1"},
    {.name = "path_with_a_fragment", .path = "c.tar.xz#x"},
    {.name = "path_with_nul", .path = "c\\u0000.tar.xz"},
    {.name = "path_with_a_line_end", .path = "c\\n.tar.xz"},
    {.name = "path_with_escape", .path = "c\\u001b[31m"},
    {.name = "path_with_a_blank", .path = "c c.tar.xz"},
    {.name = "path_not_ascii", .path = "c\\u202e.tar.xz"},
    {.name = "path_longer_than_a_path", .path = std::string(1025, 'c')},
    {.name = "path_with_plus_and_dots", .path = "c-1/...c+x..tar.xz", .is_good = true},
    {.name = "sha_missing", .sha256 = ""},
    {.name = "sha_empty", .sha256 = "\"\""},
    {.name = "sha_null", .sha256 = "null"},
    {.name = "sha_short", .sha256 = "\"" + std::string(63, 'a') + "\""},
    {.name = "sha_long", .sha256 = "\"" + std::string(65, 'a') + "\""},
    {.name = "sha_in_upper_case", .sha256 = "\"" + std::string(64, 'A') + "\""},
    {.name = "sha_not_hex", .sha256 = "\"" + std::string(64, 'g') + "\""},
    {.name = "sha_number", .sha256 = "7"},
    {.name = "size_missing", .size = ""},
    {.name = "size_zero", .size = "0"},
    {.name = "size_zero_text", .size = "\"0\""},
    {.name = "size_negative", .size = "-1"},
    {.name = "size_negative_text", .size = "\"-1\""},
    {.name = "size_with_a_plus", .size = "\"+1\""},
    {.name = "size_largest", .size = "64000000000", .is_good = true},
    {.name = "size_too_large", .size = "64000000001"},
    {.name = "size_too_large_text", .size = "\"99999999999999999999999\""},
    {.name = "size_fraction", .size = "7.0"},
    {.name = "size_hex_text", .size = "\"0x7\""},
    {.name = "size_words", .size = "\"seven\""},
    {.name = "size_empty_text", .size = "\"\""},
    {.name = "size_with_a_unit", .size = "\"7 kB\""},
    {.name = "size_with_a_blank", .size = "\" 7\""},
    {.name = "size_list", .size = "[7]"},
};

INSTANTIATE_TEST_SUITE_P(Rows, HostileArchive, testing::ValuesIn(k_hostile_rows), test::RowName());

struct HostileTextRow {
  const char* name;
  std::string text;
};

class HostileManifest : public testing::TestWithParam<HostileTextRow> {};

TEST_P(HostileManifest, is_refused) {
  const auto manifest = parse(GetParam().text);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().kind, ErrorKind::integrity);
  for (const char c : manifest.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

const HostileTextRow k_hostile_texts[] = {
    {"list", "[]"},
    {"text", "\"redistrib\""},
    {"null", "null"},
    {"without_components", "{\"release_date\": \"2026-01-01\"}"},
    {"component_of_parents", R"({"..": {}})"},
    {"component_with_a_slash", R"({"a/b": {}})"},
    {"component_hidden", R"({".hidden": {}})"},
    {"component_without_a_name", R"({"": {}})"},
    {"component_with_escape", R"({"a\u001b[31m": {}})"},
    {"component_with_a_long_name", "{\"" + std::string(129, 'a') + "\": {}}"},
    {"one_bad_archive_among_good_ones",
     R"({"a": {}, "b": {"linux-x86_64": {"relative_path": "../x", "sha256": ")" + k_sha + R"(", "size": 1}}})"},
    {"path_that_is_no_text", R"({"a": {"linux-x86_64": {"relative_path": 1}}})"},
};

INSTANTIATE_TEST_SUITE_P(Rows, HostileManifest, testing::ValuesIn(k_hostile_texts), test::RowName());

// A download that was cut must never look like a smaller release.
TEST(Manifest, DL_01_cut_at_any_byte_is_refused) {
  std::string text = test::sample_text("13.3.1");  // it has both forms
  while (text.ends_with('\n')) text.pop_back();
  ASSERT_TRUE(parse(text));
  for (std::size_t size = 0; size < text.size(); ++size) ASSERT_FALSE(parse(text.substr(0, size))) << size;
}

// --- Names and labels ---

struct NameRow {
  const char* name;
  std::string_view file;
  std::optional<Version> release;
};

class ManifestName : public testing::TestWithParam<NameRow> {};

TEST_P(ManifestName, stands_for_a_release_or_nothing) {
  EXPECT_EQ(release_of_manifest_name(GetParam().file), GetParam().release);
  if (GetParam().release) {
    EXPECT_EQ(manifest_name(*GetParam().release), GetParam().file);
  }
}

constexpr NameRow k_name_rows[] = {
    {"release", "redistrib_12.8.1.json", Version{12, 8, 1}},
    {"two_digits_each", "redistrib_12.10.11.json", Version{12, 10, 11}},
    {"two_numbers", "redistrib_12.8.json", std::nullopt},
    {"four_numbers", "redistrib_2.0.2.1.json", std::nullopt},
    {"leading_zero", "redistrib_12.08.1.json", std::nullopt},
    {"no_number", "redistrib_.json", std::nullopt},
    {"start_and_end_overlap", "redistrib_json", std::nullopt},
    {"other_product", "redistrib-v2_12.8.1.json", std::nullopt},
    {"other_ending", "redistrib_12.8.1.json.sig", std::nullopt},
    {"in_a_folder", "x/redistrib_12.8.1.json", std::nullopt},
    {"upper_case", "Redistrib_12.8.1.json", std::nullopt},
    {"empty", "", std::nullopt},
};

INSTANTIATE_TEST_SUITE_P(Rows, ManifestName, testing::ValuesIn(k_name_rows), test::RowName());

TEST(ManifestLabel, must_be_that_of_the_release_if_there_is_one) {
  Manifest manifest;
  EXPECT_TRUE(check_label(manifest, "CUDA", "12.8.1"));
  manifest.release_label = "12.8.1";
  EXPECT_TRUE(check_label(manifest, "CUDA", "12.8.1"));
  for (const char* label : {"12.8.0", "12.8", "12.8.1 ", "\x1b[31m"}) {
    manifest.release_label = label;
    const auto checked = check_label(manifest, "CUDA", "12.8.1");
    ASSERT_FALSE(checked) << label;
    EXPECT_EQ(checked.error().kind, ErrorKind::integrity);
    EXPECT_EQ(checked.error().message.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace cudaenv::core
