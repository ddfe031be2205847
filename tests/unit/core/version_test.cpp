// SPDX-License-Identifier: Apache-2.0
#include "core/version.hpp"

#include <string_view>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

struct Row {
  const char* name;
  std::string_view text;
  bool is_release;
};

class VersionParse : public testing::TestWithParam<Row> {};

TEST_P(VersionParse, accepts_three_numbers_alone) {
  EXPECT_EQ(parse_version(GetParam().text).has_value(), GetParam().is_release);
}

constexpr Row k_rows[] = {
    {"release", "12.8.1", true},
    {"greatest", "9999.9999.9999", true},
    {"five_digits", "12.8.10000", false},
    {"two_numbers", "12.8", false},
    {"four_numbers", "12.8.1.0", false},
    {"leading_zero", "12.08.1", false},
    {"prefix_v", "v12.8.1", false},
    {"staging_directory", "12.8.1.partial", false},
    {"hidden", ".12.8.1", false},
    {"VER_02_parent", "..", false},
    {"empty", "", false},
};

INSTANTIATE_TEST_SUITE_P(Rows, VersionParse, testing::ValuesIn(k_rows), test::RowName());

TEST(Version, VER_09_compares_as_numbers) {
  EXPECT_GT(*parse_version("12.10.0"), *parse_version("12.9.9"));
  EXPECT_GT(*parse_version("12.4.10"), *parse_version("12.4.9"));
  EXPECT_LT(*parse_version("9.2.0"), *parse_version("10.0.0"));
  EXPECT_EQ(*parse_version("12.4.1"), (Version{12, 4, 1}));
}

}  // namespace
}  // namespace cudaenv::core
