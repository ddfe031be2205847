// SPDX-License-Identifier: Apache-2.0
#include "shell/quote.hpp"

#include "unit/core/named_rows.hpp"

namespace cudaenv::shell {
namespace {

struct Row {
  const char* name;
  std::string_view text;
  std::string_view posix;
  std::string_view fish;
};

class Quote : public testing::TestWithParam<Row> {};

TEST_P(Quote, makes_one_word) {
  EXPECT_EQ(quote(Shell::bash, GetParam().text), GetParam().posix);
  EXPECT_EQ(quote(Shell::zsh, GetParam().text), GetParam().posix);
  EXPECT_EQ(quote(Shell::fish, GetParam().text), GetParam().fish);
}

constexpr Row k_rows[] = {
    {"empty", "", "''", "''"},
    {"plain", "12.8.1", "'12.8.1'", "'12.8.1'"},
    {"blank", "a b", "'a b'", "'a b'"},
    {"single_quote", "a'b", R"('a'\''b')", R"('a\'b')"},
    {"only_a_single_quote", "'", R"(''\''')", R"('\'')"},
    {"double_quote", "a\"b", "'a\"b'", "'a\"b'"},
    {"back_slash", R"(a\b)", R"('a\b')", R"('a\\b')"},
    {"back_slash_last", "a\\", "'a\\'", R"('a\\')"},
    {"back_slash_before_a_quote", R"(\')", R"('\'\''')", R"('\\\'')"},
    {"substitution", "$(id) `id` ${x}", "'$(id) `id` ${x}'", "'$(id) `id` ${x}'"},
    {"line_end", "a\nb", "'a\nb'", "'a\nb'"},
    {"history", "a!b", "'a!b'", "'a!b'"},
    {"glob_and_tilde", "~/*?[a]", "'~/*?[a]'", "'~/*?[a]'"},
};

INSTANTIATE_TEST_SUITE_P(Rows, Quote, testing::ValuesIn(k_rows), test::RowName());

}  // namespace
}  // namespace cudaenv::shell
