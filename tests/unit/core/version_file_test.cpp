// SPDX-License-Identifier: Apache-2.0
#include "core/version_file.hpp"

#include <string>
#include <string_view>

#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using namespace std::string_view_literals;
using Status = VersionTextStatus;

struct Row {
  const char* name;
  std::string_view bytes;
  Status status;
  std::string_view word = {};
  std::uint32_t line = 0;
  std::string_view extra = {};
  std::uint32_t extra_line = 0;
};

class VersionFile : public testing::TestWithParam<Row> {};

TEST_P(VersionFile, first_word_counts) {
  const Row& row = GetParam();
  const VersionText text = parse_version_text(row.bytes);
  EXPECT_EQ(text.status, row.status);
  EXPECT_EQ(text.word, row.word);
  EXPECT_EQ(text.line, row.line);
  EXPECT_EQ(text.extra, row.extra);
  EXPECT_EQ(text.extra_line, row.extra_line);
  EXPECT_EQ(text.spec.text, row.status == Status::spec ? row.word : "");
}

constexpr Row k_rows[] = {
    {"VER_01_line_feed", "12.4\n", Status::spec, "12.4", 1},
    {"VER_01_no_line_end", "12.4", Status::spec, "12.4", 1},
    {"VER_01_carriage_return_line_feed", "12.4\r\n", Status::spec, "12.4", 1},
    {"VER_01_carriage_return", "12.4\r", Status::spec, "12.4", 1},
    {"VER_01_lines_of_an_old_mac", "# a\r12.4\r", Status::spec, "12.4", 2},
    {"byte_order_mark",
     "\xef\xbb\xbf"
     "12.4\n",
     Status::spec, "12.4", 1},
    {"byte_order_mark_alone", "\xef\xbb\xbf", Status::empty},
    {"second_byte_order_mark",
     "\xef\xbb\xbf\xef\xbb\xbf"
     "12.4",
     Status::invalid,
     "\xef\xbb\xbf"
     "12.4",
     1},
    {"blanks_around", "\t 12.4 \t\n", Status::spec, "12.4", 1},
    {"blank_lines_and_comments", "\n# why\r\n\n  12.4\n", Status::spec, "12.4", 4},
    {"comment_behind", "12.4 # why\n", Status::spec, "12.4", 1},
    {"comment_touching", "12.4#why\n", Status::spec, "12.4", 1},
    {"comment_holds_no_spec", "# 12.4", Status::empty},
    {"empty", "", Status::empty},
    {"blank", " \r\n\t\n", Status::empty},
    {"further_word", "12.4 11.8\n", Status::spec, "12.4", 1, "11.8", 1},
    {"further_line", "12.4\n\n11.8\n10.2\n", Status::spec, "12.4", 1, "11.8", 3},
    {"further_line_is_not_judged", "12.4\n../x\n", Status::spec, "12.4", 1, "../x", 2},
    {"further_comment_is_none", "12.4\n# 11.8\n", Status::spec, "12.4", 1},
    {"name", "mine\n", Status::spec, "mine", 1},
    {"VER_02_path", "\n../../tmp/x\n", Status::invalid, "../../tmp/x", 2},
    {"VER_02_substitution", "$(id)\n", Status::invalid, "$(id)", 1},
    {"first_word_decides", "x/y 12.4", Status::invalid, "x/y", 1, "12.4", 1},
    {"nul", "12.4\0"sv, Status::invalid, "12.4\0"sv, 1},
    {"escape", "\x1b[31m12", Status::invalid, "\x1b[31m12", 1},
    {"utf16_little",
     "\xff\xfe"
     "1\0"
     "2\0"sv,
     Status::utf16},
    {"utf16_big",
     "\xfe\xff\0"
     "1\0"
     "2"sv,
     Status::utf16},
};

INSTANTIATE_TEST_SUITE_P(Rows, VersionFile, testing::ValuesIn(k_rows), test::RowName());

TEST(VersionFileSize, k64_are_read_and_one_more_is_not) {
  std::string bytes(k_largest_version_file - 3, '\n');
  bytes += "12\n";
  EXPECT_EQ(parse_version_text(bytes).status, Status::spec);
  EXPECT_EQ(parse_version_text(bytes).line, k_largest_version_file - 2);
  EXPECT_EQ(parse_version_text(bytes + "\n").status, Status::too_large);
}

TEST(VersionFileSize, VER_02_line_of_60_kB_is_refused_whole) {
  const std::string bytes(60000, '1');
  const VersionText text = parse_version_text(bytes);
  EXPECT_EQ(text.status, Status::invalid);
  EXPECT_EQ(text.word.size(), bytes.size());
}

}  // namespace
}  // namespace cudaenv::core
