// SPDX-License-Identifier: Apache-2.0
#include "base/toml.hpp"

#include "unit/core/named_rows.hpp"

namespace cudaenv::base {
namespace {

struct BadRow {
  const char* name;
  std::string_view text;
  std::string_view place;  // the message starts with it
};

class BadToml : public testing::TestWithParam<BadRow> {};

TEST_P(BadToml, is_refused_with_line_and_column) {
  const auto value = parse_toml(GetParam().text);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, ErrorKind::config);
  EXPECT_TRUE(value.error().message.starts_with(GetParam().place)) << value.error().message;
  EXPECT_GT(value.error().message.size(), GetParam().place.size() + 5);  // and a reason
}

constexpr BadRow k_bad_rows[] = {
    {"no_value", "a = 1\nb =\n", "line 2, column 4: "},
    {"bare_word", "mode = warn", "line 1, column 8: "},
    {"key_twice", "a = 1\na = 2\n", "line 2, column "},
    {"table_twice", "[gate]\n\n[gate]\n", "line 3, column "},
    {"open_string", "a = \"x\n", "line 1, column "},
    {"bad_date", "a = 2026-13-01", "line 1, column "},
    {"bad_utf8", "a = \"\xff\"", "line 1, column "},
    {"control_byte", "a = \"\x01\"", "line 1, column "},
    {"integer_past_64_bits", "a = 9223372036854775808", "line 1, column "},
};

INSTANTIATE_TEST_SUITE_P(Rows, BadToml, testing::ValuesIn(k_bad_rows), test::RowName());

TEST(Toml, every_kind_of_value_arrives) {
  const auto value =
      parse_toml("text = 'x'\nnumber = 12\nhalf = 0.5\nyes = true\nlist = ['a', 1]\n[table]\ninner.deep = 1\n");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->text("text"), "x");
  EXPECT_EQ(*value->find("number")->as_integer(), 12);
  EXPECT_EQ(*value->find("half")->as_double(), 0.5);
  EXPECT_TRUE(*value->find("yes")->as_bool());
  EXPECT_EQ(value->find("list")->as_array()->size(), 2u);
  EXPECT_EQ(*value->find("table")->find("inner")->find("deep")->as_integer(), 1);
}

TEST(Toml, dates_and_times_stay_texts) {
  const auto value = parse_toml("date = 2026-01-31\ntime = 12:34:56\nmoment = 2026-01-31T12:34:56Z\n");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->text("date"), "2026-01-31");
  EXPECT_EQ(value->text("time"), "12:34:56");
  EXPECT_EQ(value->text("moment"), "2026-01-31T12:34:56Z");
}

TEST(Toml, empty_document_is_an_empty_table) {
  for (const char* text : {"", "\n", "# nothing\n", "\xef\xbb\xbf"}) {
    const auto value = parse_toml(text);
    ASSERT_TRUE(value) << text;
    EXPECT_TRUE(value->as_object()->empty()) << text;
  }
}

TEST(Toml, what_cannot_begin_a_key_is_refused) {
  for (const char* text : {"[= 1]\n", "[.a]\n", "[[=]]\n", "[,\n", "[\x01"}) {
    const auto value = parse_toml(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().message.substr(0, 8), "line 1, ") << text;
  }
}

TEST(Toml, deep_nesting_is_refused_and_not_a_crash) { EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['))); }

}  // namespace
}  // namespace cudaenv::base
