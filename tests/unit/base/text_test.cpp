// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include "unit/core/named_rows.hpp"

namespace cudaenv::base {
namespace {

using Texts = std::vector<std::string>;

// --- trimmed, split, join ---

struct TrimRow {
  const char* name;
  std::string_view text;
  std::string_view expected;
};

class Trimmed : public testing::TestWithParam<TrimRow> {};

TEST_P(Trimmed, loses_blanks_on_both_sides_only) { EXPECT_EQ(trimmed(GetParam().text), GetParam().expected); }

constexpr TrimRow k_trim_rows[] = {
    {"empty", "", ""},
    {"nothing_but_blanks", " \t\r\n", ""},
    {"both_sides", " \t12.8\r\n", "12.8"},
    {"blanks_inside_stay", " a b ", "a b"},
    {"other_control_bytes_stay", "\v12\f", "\v12\f"},
};

INSTANTIATE_TEST_SUITE_P(Rows, Trimmed, testing::ValuesIn(k_trim_rows), test::RowName());

struct SplitRow {
  const char* name;
  std::string text;
  Texts parts;
};

class Split : public testing::TestWithParam<SplitRow> {};

TEST_P(Split, join_is_the_way_back) {
  const auto parts = split(GetParam().text, ':');
  EXPECT_EQ(Texts(parts.begin(), parts.end()), GetParam().parts);
  EXPECT_EQ(join(GetParam().parts, ":"), GetParam().text);
}

const SplitRow k_split_rows[] = {
    {"nothing_is_one_empty_part", "", {""}},
    {"one", "a", {"a"}},
    {"two", "a:b", {"a", "b"}},
    {"separator_alone", ":", {"", ""}},
    {"separator_first", ":a", {"", "a"}},
    {"separator_last", "a:", {"a", ""}},
    {"separator_twice", "a::b", {"a", "", "b"}},
};

INSTANTIATE_TEST_SUITE_P(Rows, Split, testing::ValuesIn(k_split_rows), test::RowName());

TEST(Join, of_nothing_is_empty) { EXPECT_EQ(join({}, ", "), ""); }

// --- escaped ---

struct EscapeRow {
  const char* name;
  std::string_view text;
  std::string_view expected;
};

class Escaped : public testing::TestWithParam<EscapeRow> {};

TEST_P(Escaped, shows_what_a_terminal_would_obey) { EXPECT_EQ(escaped(GetParam().text), GetParam().expected); }

constexpr EscapeRow k_escape_rows[] = {
    {"plain", "cuda-12.8 ok", "cuda-12.8 ok"},
    {"escape_sequence", "\x1b[31m", "\\x1b[31m"},
    {"line_end", "a\nb\r", "a\\x0ab\\x0d"},
    {"nul", std::string_view("a\0b", 3), "a\\x00b"},
    {"delete", "\x7f", "\\x7f"},
    {"two_bytes", "caf\xc3\xa9", "caf\xc3\xa9"},
    {"three_bytes", "\xe2\x82\xac", "\xe2\x82\xac"},
    {"four_bytes", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"control_character_of_two_bytes",
     "\xc2\x9b"
     "31m",
     "\\xc2\\x9b31m"},
    {"no_break_space_is_printable", "\xc2\xa0", "\xc2\xa0"},
    {"lone_byte",
     "\x9b"
     "31m",
     "\\x9b31m"},
    {"cut_character", "\xe2\x82", "\\xe2\\x82"},
    {"overlong", "\xc0\x9b\xe0\x82\x9b", "\\xc0\\x9b\\xe0\\x82\\x9b"},
    {"surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"beyond_unicode", "\xf4\x90\x80\x80\xff", "\\xf4\\x90\\x80\\x80\\xff"},
};

INSTANTIATE_TEST_SUITE_P(Rows, Escaped, testing::ValuesIn(k_escape_rows), test::RowName());

// --- human_size ---

struct SizeRow {
  const char* name;
  std::uint64_t bytes;
  std::string_view expected;
};

class HumanSize : public testing::TestWithParam<SizeRow> {};

TEST_P(HumanSize, has_one_decimal_and_a_decimal_unit) { EXPECT_EQ(human_size(GetParam().bytes), GetParam().expected); }

constexpr SizeRow k_size_rows[] = {
    {"none", 0, "0 B"},
    {"largest_in_bytes", 999, "999 B"},
    {"smallest_in_kilobytes", 1000, "1.0 kB"},
    {"largest_in_kilobytes", 999'949, "999.9 kB"},
    {"rounding_goes_to_the_next_unit", 999'950, "1.0 MB"},
    {"archive", 839'000'000, "839.0 MB"},
    {"toolkit", 4'560'000'000, "4.6 GB"},
    {"disk", 2'000'000'000'000, "2.0 TB"},
    {"beyond_the_last_unit", 1'500'000'000'000'000, "1500.0 TB"},
};

INSTANTIATE_TEST_SUITE_P(Rows, HumanSize, testing::ValuesIn(k_size_rows), test::RowName());

// --- did_you_mean ---

constexpr std::string_view k_candidates[] = {"install", "uninstall", "version", "versions",
                                             "env",     "exec",      "use",     "init"};

struct MeantRow {
  const char* name;
  std::string_view typed;
  Texts expected;
};

class DidYouMean : public testing::TestWithParam<MeantRow> {};

TEST_P(DidYouMean, offers_the_nearest_two) {
  EXPECT_EQ(did_you_mean(GetParam().typed, k_candidates), GetParam().expected);
}

const MeantRow k_meant_rows[] = {
    {"one_letter_changed", "instell", {"install"}},
    {"neighbours_swapped_are_one_edit", "isntall", {"install"}},
    {"two_edits", "nstal", {"install"}},
    {"three_edits_are_too_far", "nsta", {}},
    {"letter_too_many", "versionss", {"versions", "version"}},
    {"nearest_first", "versoin", {"version", "versions"}},
    {"short_word_with_one_edit", "evn", {"env"}},
    {"two_edits_of_a_short_word_are_another_word", "exe2", {"exec"}},
    {"half_of_the_letters_is_too_much", "in", {}},
    {"prefix_is_no_typing_error", "uninst", {}},
    {"nothing_typed", "", {}},
    {"exact", "env", {"env"}},
};

INSTANTIATE_TEST_SUITE_P(Rows, DidYouMean, testing::ValuesIn(k_meant_rows), test::RowName());

TEST(DidYouMeanLimits, a_candidate_is_offered_once) {
  constexpr std::string_view k_twice[] = {"install", "install"};
  EXPECT_EQ(did_you_mean("instal", k_twice), Texts{"install"});
}

TEST(DidYouMeanLimits, very_long_input_costs_nothing) {
  EXPECT_EQ(did_you_mean(std::string(1'000'000, 'x'), k_candidates), Texts{});
}

}  // namespace
}  // namespace cudaenv::base
