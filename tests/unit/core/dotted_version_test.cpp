// SPDX-License-Identifier: Apache-2.0
#include "core/dotted_version.hpp"

#include <compare>
#include <string_view>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

struct OrderRow {
  const char* name;
  std::string_view a;
  std::string_view b;
  std::strong_ordering expected;
};

class DottedVersionOrder : public testing::TestWithParam<OrderRow> {};

TEST_P(DottedVersionOrder, compares_number_by_number) {
  const auto a = parse_dotted_version(GetParam().a);
  const auto b = parse_dotted_version(GetParam().b);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a <=> *b, GetParam().expected);
  EXPECT_EQ(*b <=> *a, 0 <=> GetParam().expected);
  EXPECT_EQ(*a == *b, GetParam().expected == 0);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DottedVersionOrder,
    testing::Values(OrderRow{"VER_09_numbers_not_text", "12.10", "12.9", std::strong_ordering::greater},
                    OrderRow{"driver_branches", "570.26", "570.124.06", std::strong_ordering::less},
                    OrderRow{"leading_zero_of_a_driver", "570.124.06", "570.124.6", std::strong_ordering::equal},
                    OrderRow{"missing_part_is_zero", "12.8", "12.8.0", std::strong_ordering::equal},
                    OrderRow{"five_parts", "13.3.3.3.1", "13.3.3.3.2", std::strong_ordering::less},
                    OrderRow{"first_part_decides", "9.2.148", "10.0", std::strong_ordering::less}),
    test::RowName());

struct ParseRow {
  const char* name;
  std::string_view text;
  LeadingZero leading_zero;
  int count;  // 0: refused
};

class DottedVersionParse : public testing::TestWithParam<ParseRow> {};

TEST_P(DottedVersionParse, takes_the_whole_text_or_nothing) {
  const auto version = parse_dotted_version(GetParam().text, GetParam().leading_zero);
  ASSERT_EQ(version.has_value(), GetParam().count != 0);
  if (version) {
    EXPECT_EQ(version->count, GetParam().count);
  }
}

constexpr ParseRow k_parse_rows[] = {
    {"one_part", "12", LeadingZero::refused, 1},
    {"component", "12.4.131", LeadingZero::refused, 3},
    {"most_parts", "1.2.3.4.5", LeadingZero::refused, 5},
    {"too_many_parts", "1.2.3.4.5.6", LeadingZero::refused, 0},
    {"six_digits", "123456", LeadingZero::refused, 1},
    {"seven_digits", "1234567", LeadingZero::refused, 0},
    {"zero", "0", LeadingZero::refused, 1},
    {"leading_zero_allowed", "570.124.06", LeadingZero::allowed, 3},
    {"leading_zero_refused", "570.124.06", LeadingZero::refused, 0},
    {"double_zero_refused", "12.00", LeadingZero::refused, 0},
    {"empty", "", LeadingZero::allowed, 0},
    {"dot_alone", ".", LeadingZero::allowed, 0},
    {"dot_first", ".12", LeadingZero::allowed, 0},
    {"dot_last", "12.", LeadingZero::allowed, 0},
    {"two_dots", "12..4", LeadingZero::allowed, 0},
    {"sign", "-12", LeadingZero::allowed, 0},
    {"blank_after", "12 ", LeadingZero::allowed, 0},
    {"letter_after", "12a", LeadingZero::allowed, 0},
    {"nul_inside", std::string_view("12\0", 3), LeadingZero::allowed, 0},
};

INSTANTIATE_TEST_SUITE_P(Rows, DottedVersionParse, testing::ValuesIn(k_parse_rows), test::RowName());

TEST(DottedVersion, is_false_only_while_it_has_no_part) {
  EXPECT_FALSE(DottedVersion());
  EXPECT_TRUE(*parse_dotted_version("0"));
}

static_assert(parse_dotted_version("12.8.1")->part[2] == 1, "usable at compile time");

}  // namespace
}  // namespace cudaenv::core
