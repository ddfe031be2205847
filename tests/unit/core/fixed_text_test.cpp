// SPDX-License-Identifier: Apache-2.0
#include "core/fixed_text.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using namespace std::string_view_literals;

TEST(FixedText, starts_empty_and_ended) {
  const FixedText<8> text;
  EXPECT_EQ(text.view(), "");
  EXPECT_STREQ(text.c_str(), "");
  EXPECT_FALSE(text.is_cut());
}

TEST(FixedText, takes_one_character_less_than_its_capacity) {
  FixedText<4> text("abc");
  EXPECT_FALSE(text.is_cut());
  text.append('d');
  EXPECT_TRUE(text.is_cut());
  EXPECT_STREQ(text.c_str(), "abc");
}

TEST(FixedText, assign_forgets_that_it_was_cut) {
  FixedText<4> text("abcdef");
  EXPECT_FALSE(text.assign("ab").is_cut());
  EXPECT_EQ(text.view(), "ab");
}

TEST(FixedText, truncate_makes_a_cut_text_whole_again) {
  FixedText<4> text("ab");
  text.append("/.cuda-version");
  ASSERT_TRUE(text.is_cut());
  text.truncate(2);
  EXPECT_FALSE(text.is_cut());
  EXPECT_STREQ(text.c_str(), "ab");
}

TEST(FixedText, truncate_never_lengthens) {
  FixedText<8> text("ab");
  text.truncate(5);
  EXPECT_EQ(text.view(), "ab");
}

TEST(FixedText, copy_is_independent) {
  FixedText<8> text("ab");
  const FixedText<8> copy = text;
  text.append('c');
  EXPECT_STREQ(copy.c_str(), "ab");
}

TEST(FixedText, numbers) {
  FixedText<32> text;
  text.append_number(0).append(' ').append_number(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text.view(), "0 18446744073709551615");
}

static_assert(FixedText<8>("12").append_number(8).view() == "128", "usable at compile time");

struct EscapeRow {
  const char* name;
  std::string_view text;
  std::string_view expected;
};

class FixedTextEscape : public testing::TestWithParam<EscapeRow> {};

TEST_P(FixedTextEscape, lets_no_control_character_through) {
  FixedText<256> text;
  text.append_escaped(GetParam().text);
  EXPECT_EQ(text.view(), GetParam().expected);
}

constexpr EscapeRow k_escape_rows[] = {
    {"plain", "/home/u/a b", "/home/u/a b"},
    {"VER_01_carriage_return", "12.4\r", "12.4\\x0d"},
    {"escape_sequence", "\x1b[31m", "\\x1b[31m"},
    {"nul", "a\0b"sv, "a\\x00b"},
    {"delete_character", "\x7f", "\\x7f"},
    {"two_bytes", "caf\xc3\xa9", "caf\xc3\xa9"},
    {"three_bytes", "\xe2\x82\xac", "\xe2\x82\xac"},
    {"four_bytes", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"C1_control_sequence_introducer",
     "\xc2\x9b"
     "31m",
     "\\xc2\\x9b31m"},
    {"no_break_space_is_no_control", "\xc2\xa0", "\xc2\xa0"},
    {"raw_C1_byte",
     "\x9b"
     "31m",
     "\\x9b31m"},
    {"latin_1", "caf\xe9 x", "caf\\xe9 x"},
    {"cut_sequence", "\xe2\x82", "\\xe2\\x82"},
    {"overlong_escape", "\xc0\x9b", "\\xc0\\x9b"},
    {"overlong_three", "\xe0\x80\x9b", "\\xe0\\x80\\x9b"},
    {"surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"past_unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
};

INSTANTIATE_TEST_SUITE_P(Rows, FixedTextEscape, testing::ValuesIn(k_escape_rows), test::RowName());

TEST(FixedText, escape_stops_after_so_many_bytes_but_not_inside_a_character) {
  FixedText<64> text;
  text.append_escaped(
      "abc\xc3\xa9"
      "def",
      4);
  EXPECT_EQ(text.view(), "abc\xc3\xa9...");
  text.clear();
  text.append_escaped("abc", 3);
  EXPECT_EQ(text.view(), "abc");
}

}  // namespace
}  // namespace cudaenv::core
