// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <limits>

#include "unit/core/named_rows.hpp"

namespace cudaenv::base {
namespace {

struct BadRow {
  const char* name;
  std::string text;
  std::string_view told;  // part of the message
};

class BadJson : public testing::TestWithParam<BadRow> {};

TEST_P(BadJson, is_refused_with_the_reason) {
  const auto value = parse_json(GetParam().text);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, ErrorKind::config);
  EXPECT_NE(value.error().message.find(GetParam().told), std::string::npos) << value.error().message;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

const BadRow k_bad_rows[] = {
    {"empty", "", "not JSON at byte"},
    {"blank", " \n", "not JSON at byte"},
    {"html", "<!DOCTYPE html>", "not JSON at byte 1"},
    {"bytes_after_it", "{} x", "not JSON at byte 4"},
    {"second_document", "{}{}", "not JSON at byte 3"},
    {"nul_after_it", std::string("{}\0", 3), "not JSON at byte"},
    {"comment", "{} // x", "not JSON at byte"},
    {"trailing_comma", "[1,]", "not JSON at byte 4"},
    {"single_quotes", "{'a': 1}", "not JSON at byte 2"},
    {"name_twice", R"({"a": 1, "b": 2, "a": 3})", "the name \"a\" twice"},
    {"name_twice_when_escaped", R"({"a": 1, "\u0061": 3})", "the name \"a\" twice"},
    {"name_twice_deep_inside", R"([{"x": {"a": 1, "a": 1}}])", "the name \"a\" twice"},
    {"nesting_of_65", nested(65), "nesting that is too deep"},
    {"nesting_without_end", std::string(1'000'000, '['), "nesting that is too deep"},
    {"bad_utf8_in_a_string", "{\"a\": \"\xff\"}", "not JSON at byte"},
    {"bad_utf8_in_a_name", "{\"\xc3\": 1}", "not JSON at byte"},
    {"overlong_utf8", "[\"\xc0\xaf\"]", "not JSON at byte"},
    {"utf8_surrogate", "[\"\xed\xa0\x80\"]", "not JSON at byte"},
    {"lone_surrogate_escape", R"(["\ud800"])", "not JSON at byte"},
    {"raw_control_byte", "[\"\x01\"]", "not JSON at byte"},
    {"integer_past_64_bits_signed", "9223372036854775808", "a number that is too large"},
    {"number_past_a_double", "1e999", "not JSON at byte"},
    {"not_a_number", "NaN", "not JSON at byte"},
    {"infinity", "[-Infinity]", "not JSON at byte"},
    {"leading_zero", "[012]", "not JSON at byte"},
    {"plus_sign", "[+1]", "not JSON at byte"},
    {"utf16", std::string("\xff\xfe{\0}\0", 6), "not JSON at byte"},
};

INSTANTIATE_TEST_SUITE_P(Rows, BadJson, testing::ValuesIn(k_bad_rows), test::RowName());

TEST(Json, nesting_of_64_is_fine) { EXPECT_TRUE(parse_json(nested(64))); }

TEST(Json, byte_order_mark_is_skipped) { EXPECT_TRUE(parse_json("\xef\xbb\xbf{}")); }

TEST(Json, same_name_in_different_objects_is_fine) { EXPECT_TRUE(parse_json(R"([{"a": {"a": 1}}, {"a": 1}])")); }

TEST(Json, numbers_keep_their_range) {
  const auto value = parse_json("[9223372036854775807, -9223372036854775808, 0, -0, 1.5, 1e3]");
  ASSERT_TRUE(value);
  const Value::Array& numbers = *value->as_array();
  EXPECT_EQ(*numbers[0].as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*numbers[1].as_integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(*numbers[2].as_integer(), 0);
  EXPECT_EQ(*numbers[3].as_integer(), 0);
  EXPECT_EQ(*numbers[4].as_double(), 1.5);
  EXPECT_EQ(numbers[5].as_integer(), nullptr);  // written as a floating-point number
}

TEST(Json, integers_past_the_range_are_no_integers) {
  for (const char* text : {"18446744073709551616", "-9223372036854775809"}) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->as_integer(), nullptr) << text;
  }
}

TEST(Json, members_keep_their_order) {
  const auto value = parse_json(R"({"z": 1, "a": 2, "m": null})");
  ASSERT_TRUE(value);
  const Value::Object& members = *value->as_object();
  EXPECT_EQ(members[0].first, "z");
  EXPECT_EQ(members[1].first, "a");
  EXPECT_EQ(members[2].first, "m");
  EXPECT_TRUE(members[2].second.is_null());
}

TEST(Json, find_and_text_answer_for_any_kind_of_value) {
  const auto value = parse_json(R"({"text": "x", "number": 1})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->text("text"), "x");
  EXPECT_EQ(value->text("number"), "");
  EXPECT_EQ(value->text("absent"), "");
  EXPECT_EQ(value->find("number")->find("x"), nullptr);
}

TEST(Json, what_is_written_reads_back_byte_for_byte) {
  const std::string text =
      "{\n  \"none\": null,\n  \"yes\": true,\n  \"number\": -7,\n  \"half\": 0.5,\n  \"text\": "
      "\"a\\\"\\\\\\n\\u0001 caf\xc3\xa9\",\n  \"list\": [\n    1,\n    []\n  ],\n  \"object\": {}\n}\n";
  const auto value = parse_json(text);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(to_json(*value), text);
}

TEST(Json, bytes_that_are_no_utf8_are_replaced_when_written) {
  const std::string text =
      to_json(Value("a\xff"
                    "b"));
  EXPECT_EQ(text,
            "\"a\xef\xbf\xbd"
            "b\"\n");
  EXPECT_TRUE(parse_json(text));
}

TEST(Json, cut_anywhere_is_refused) {
  const std::string text = R"({"a": [1, "\u00e9", {"b": null}], "c": 1.5e3})";
  ASSERT_TRUE(parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(parse_json(text.substr(0, size))) << size;
}

}  // namespace
}  // namespace cudaenv::base
