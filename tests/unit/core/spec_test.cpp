// SPDX-License-Identifier: Apache-2.0
#include "core/spec.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

struct Row {
  const char* name;
  std::string_view text;
  std::optional<SpecKind> kind;
  int given = 0;
  Version version = {};
};

class SpecParse : public testing::TestWithParam<Row> {};

TEST_P(SpecParse, knows_the_kind_or_refuses) {
  const Row& row = GetParam();
  const auto spec = parse_spec(row.text);
  ASSERT_EQ(spec.has_value(), row.kind.has_value());
  if (!spec) return;
  EXPECT_EQ(spec->kind, *row.kind);
  EXPECT_EQ(spec->given, row.given);
  EXPECT_EQ(spec->version, row.version);
  EXPECT_EQ(spec->text, row.text);
}

const Row k_rows[] = {
    {"system", "system", SpecKind::system},
    {"latest", "latest", SpecKind::latest},
    {"automatic", "auto", SpecKind::automatic},
    {"major", "12", SpecKind::number, 1, {12, 0, 0}},
    {"minor", "12.8", SpecKind::number, 2, {12, 8, 0}},
    {"patch", "12.8.1", SpecKind::number, 3, {12, 8, 1}},
    {"prefix_v", "v12.8", SpecKind::number, 2, {12, 8, 0}},
    {"prefix_cuda", "cuda-12.8.1", SpecKind::number, 3, {12, 8, 1}},
    {"four_digits", "9999", SpecKind::number, 1, {9999, 0, 0}},
    {"five_digits", "10000", std::nullopt},
    {"leading_zero", "012", std::nullopt},
    {"leading_zero_minor", "12.08", std::nullopt},
    {"four_numbers", "12.8.1.2", std::nullopt},
    {"dot_last", "12.", std::nullopt},
    {"dot_first", ".12", std::nullopt},
    {"wildcard", "12.x", std::nullopt},
    {"range", ">=12", std::nullopt},
    {"name", "site+cuda_12.4-rc1", SpecKind::name},
    {"capital_is_a_name", "System", SpecKind::name},
    {"prefix_alone_is_a_name", "v", SpecKind::name},
    {"empty", "", std::nullopt},
    {"blank", " ", std::nullopt},
    {"blank_before", " 12", std::nullopt},
    {"VER_01_carriage_return", "12.4\r", std::nullopt},
    {"VER_02_parents", "../../tmp/x", std::nullopt},
    {"VER_02_absolute", "/tmp/x", std::nullopt},
    {"VER_02_parents_after_a_version", "12.4/../../x", std::nullopt},
    {"VER_02_dot", ".", std::nullopt},
    {"VER_02_dots", "..", std::nullopt},
    {"VER_02_option", "-rf", std::nullopt},
    {"VER_02_second_command", "12.4;id", std::nullopt},
    {"VER_02_substitution", "$(id)", std::nullopt},
    {"VER_02_backquote", "`id`", std::nullopt},
    {"VER_02_slash_in_a_name", "mine/../x", std::nullopt},
    {"VER_02_name_with_nul", std::string_view("mine\0", 5), std::nullopt},
    {"not_ascii", "caf\xc3\xa9", std::nullopt},
};

INSTANTIATE_TEST_SUITE_P(Rows, SpecParse, testing::ValuesIn(k_rows), test::RowName());

TEST(Spec, name_has_at_most_64_bytes) {
  EXPECT_TRUE(parse_spec(std::string(k_longest_toolkit_name, 'a')));
  EXPECT_FALSE(parse_spec(std::string(k_longest_toolkit_name + 1, 'a')));
}

struct MatchRow {
  const char* name;
  std::string_view spec;
  Version release;
  bool expected;
};

class SpecMatch : public testing::TestWithParam<MatchRow> {};

TEST_P(SpecMatch, stands_for_releases) {
  EXPECT_EQ(parse_spec(GetParam().spec)->matches(GetParam().release), GetParam().expected);
}

constexpr MatchRow k_match_rows[] = {
    {"major_takes_any_minor", "12", {12, 8, 1}, true},   {"major_differs", "12", {13, 8, 1}, false},
    {"minor_takes_any_patch", "12.8", {12, 8, 1}, true}, {"minor_is_no_prefix_of_text", "12.1", {12, 10, 0}, false},
    {"patch_equal", "12.8.1", {12, 8, 1}, true},         {"patch_differs", "12.8.1", {12, 8, 0}, false},
    {"zero_minor_is_given", "12.0", {12, 1, 0}, false},  {"latest_takes_all", "latest", {9, 2, 0}, true},
    {"auto_takes_all", "auto", {9, 2, 0}, true},         {"system_takes_none", "system", {12, 8, 1}, false},
    {"name_takes_none", "mine", {12, 8, 1}, false},
};

INSTANTIATE_TEST_SUITE_P(Rows, SpecMatch, testing::ValuesIn(k_match_rows), test::RowName());

}  // namespace
}  // namespace cudaenv::core
