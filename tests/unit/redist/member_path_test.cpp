// SPDX-License-Identifier: Apache-2.0
#include "redist/member_path.hpp"

#include <optional>
#include <ostream>

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

using namespace std::string_view_literals;
using Names = std::vector<std::string>;

struct Name {
  const char* name;
  std::string_view written;
  std::optional<std::string> plain;
  PathFault fault = PathFault::empty;

  friend std::ostream& operator<<(std::ostream& out, const Name& row) { return out << row.name; }
};

class MemberName : public testing::TestWithParam<Name> {};

TEST_P(MemberName, is_made_plain_or_refused) {
  const auto plain = plain_member_path(GetParam().written);
  ASSERT_EQ(plain.has_value(), GetParam().plain.has_value());
  if (plain)
    EXPECT_EQ(*plain, *GetParam().plain);
  else
    EXPECT_EQ(plain.error(), GetParam().fault);
}

INSTANTIATE_TEST_SUITE_P(ARC_01, MemberName,
                         testing::Values(Name{"plain", "top/bin/nvcc", "top/bin/nvcc"}, Name{"one_part", "top", "top"},
                                         Name{"directory", "top/bin/", "top/bin"}, Name{"doubled_slash", "a//b", "a/b"},
                                         Name{"many_slashes_at_end", "a///", "a"}, Name{"dot_in_front", "./a", "a"},
                                         Name{"dots_inside", "a/./b/.", "a/b"}, Name{"dot", ".", ""},
                                         Name{"dot_slash", "./", ""}, Name{"three_dots", "a/.../b", "a/.../b"},
                                         Name{"dots_in_name", "a/..b/c..", "a/..b/c.."}, Name{"hidden", "a/.b", "a/.b"},
                                         Name{"blank", "a/ /b c", "a/ /b c"}, Name{"utf8", "a/\xc3\xa4", "a/\xc3\xa4"},
                                         Name{"not_utf8", "a/\xff", "a/\xff"}, Name{"colon", "C:/x", "C:/x"},
                                         Name{"dash", "-rf/x", "-rf/x"},
                                         Name{"empty", "", std::nullopt, PathFault::empty},
                                         Name{"parent", "..", std::nullopt, PathFault::parent},
                                         Name{"parent_in_front", "../x", std::nullopt, PathFault::parent},
                                         Name{"parent_after_dot", "./../x", std::nullopt, PathFault::parent},
                                         Name{"parent_behind_top", "a/../x", std::nullopt, PathFault::parent},
                                         Name{"escape_once_top_is_off", "a/../../x", std::nullopt, PathFault::parent},
                                         Name{"parent_at_end", "a/..", std::nullopt, PathFault::parent},
                                         Name{"parent_slash", "a/b/../", std::nullopt, PathFault::parent},
                                         Name{"parent_doubled_slash", "a//..//x", std::nullopt, PathFault::parent},
                                         Name{"absolute", "/etc/passwd", std::nullopt, PathFault::absolute},
                                         Name{"slash", "/", std::nullopt, PathFault::absolute},
                                         Name{"two_slashes", "//a/b", std::nullopt, PathFault::absolute},
                                         Name{"backslash", "a\\b", std::nullopt, PathFault::backslash},
                                         Name{"backslash_parent", "a\\..\\..\\x", std::nullopt, PathFault::backslash},
                                         Name{"drive", "C:\\x", std::nullopt, PathFault::backslash},
                                         Name{"newline", "a/b\nc", std::nullopt, PathFault::control_byte},
                                         Name{"escape", "a/\x1b[31m", std::nullopt, PathFault::control_byte},
                                         Name{"nul", "a/b\0c"sv, std::nullopt, PathFault::control_byte},
                                         Name{"delete", "a/\x7f", std::nullopt, PathFault::control_byte},
                                         Name{"tab", "\ta", std::nullopt, PathFault::control_byte}),
                         [](const auto& row) { return row.param.name; });

struct Strip {
  const char* name;
  std::string_view plain;
  std::string_view top;
  std::optional<std::string> below;

  friend std::ostream& operator<<(std::ostream& out, const Strip& row) { return out << row.name; }
};

class BelowTop : public testing::TestWithParam<Strip> {};

TEST_P(BelowTop, takes_off_exactly_the_top_directory) {
  const auto below = below_top(GetParam().plain, GetParam().top);
  ASSERT_EQ(below.has_value(), GetParam().below.has_value());
  if (below)
    EXPECT_EQ(*below, *GetParam().below);
  else
    EXPECT_EQ(below.error(), PathFault::outside_top);
}

INSTANTIATE_TEST_SUITE_P(ARC_01, BelowTop,
                         testing::Values(Strip{"below", "top/a/b", "top", "a/b"}, Strip{"itself", "top", "top", ""},
                                         Strip{"one_level_only", "top/top/top", "top", "top/top"},
                                         Strip{"other", "other/a", "top", std::nullopt},
                                         Strip{"common_text_prefix", "topper/a", "top", std::nullopt},
                                         Strip{"shorter", "to", "top", std::nullopt},
                                         Strip{"nothing", "", "top", std::nullopt},
                                         Strip{"no_top", "a", "", std::nullopt}),
                         [](const auto& row) { return row.param.name; });

struct Link {
  const char* name;
  std::string_view link;
  std::string_view target;
  std::optional<Names> entered;
  PathFault fault = PathFault::leaves_prefix;

  friend std::ostream& operator<<(std::ostream& out, const Link& row) { return out << row.name; }
};

class LinkTarget : public testing::TestWithParam<Link> {};

TEST_P(LinkTarget, stays_in_the_prefix_or_is_refused) {
  const auto entered = check_link_target(GetParam().link, GetParam().target);
  ASSERT_EQ(entered.has_value(), GetParam().entered.has_value());
  if (entered)
    EXPECT_EQ(*entered, *GetParam().entered);
  else
    EXPECT_EQ(entered.error(), GetParam().fault);
}

INSTANTIATE_TEST_SUITE_P(
    ARC_01, LinkTarget,
    testing::Values(Link{"neighbour", "lib/libx.so", "libx.so.1", Names{}},
                    Link{"at_the_root", "lib64", "lib", Names{}}, Link{"up_to_the_root", "a/b/l", "../..", Names{}},
                    Link{"up_and_down", "bin/ncu", "../nsight/ncu", Names{}}, Link{"dot", "l", ".", Names{}},
                    Link{"dots_and_slashes", "a/l", ".//..//./b/", Names{}}, Link{"three_dots", "l", ".../x", Names{}},
                    Link{"down_and_up", "l", "a/../b", Names{"a"}},
                    Link{"down_and_up_twice", "d/l", "a/b/../../c", Names{"d/a/b", "d/a"}},
                    Link{"up_down_up", "d/l", "../e/../f", Names{"e"}},
                    Link{"out_and_in_again_by_own_name", "d/l", "../d/../d/x", Names{"d"}},
                    Link{"above_the_root", "l", "..", std::nullopt},
                    Link{"above_the_root_from_below", "a/l", "../../x", std::nullopt},
                    Link{"above_and_back_by_the_top_name", "lib/l", "../../top/x", std::nullopt},
                    Link{"down_then_too_far_up", "l", "a/../../x", std::nullopt},
                    Link{"absolute", "l", "/etc/passwd", std::nullopt, PathFault::absolute},
                    Link{"root", "l", "/", std::nullopt, PathFault::absolute},
                    Link{"empty", "l", "", std::nullopt, PathFault::empty},
                    Link{"control_byte", "l", "a\nb", std::nullopt, PathFault::control_byte},
                    Link{"backslash", "l", "..\\x", std::nullopt, PathFault::backslash}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace cudaenv::redist
