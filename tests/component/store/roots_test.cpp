// SPDX-License-Identifier: Apache-2.0
#include "store/roots.hpp"

#include "component/redist/scratch.hpp"
#include "unit/core/named_rows.hpp"

namespace cudaenv::store {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Row {
  const char* name;
  Variables variables;
  const char* own;
  const char* shared = nullptr;
};

class LocateRoots : public testing::TestWithParam<Row> {};

TEST_P(LocateRoots, follows_the_environment_that_is_asked_about) {
  const auto roots = locate_roots(base::Environment(GetParam().variables));
  ASSERT_TRUE(roots) << roots.error().message;
  EXPECT_EQ(roots->own.path, GetParam().own);
  ASSERT_EQ(roots->shared.has_value(), GetParam().shared != nullptr);
  if (roots->shared) {
    EXPECT_EQ(roots->shared->path, GetParam().shared);
  }
}

const std::pair<std::string, std::string> k_no_shared = {"CUDAENV_SHARED_ROOT", ""};

const Row k_rows[] = {
    {"home", Variables{{"HOME", "/home/u"}, k_no_shared}, "/home/u/.cudaenv"},
    {"variable_before_home", Variables{{"HOME", "/home/u"}, {"CUDAENV_ROOT", "/data/cuda"}, k_no_shared}, "/data/cuda"},
    {"slash_at_the_end", Variables{{"CUDAENV_ROOT", "/data/cuda/"}, k_no_shared}, "/data/cuda"},
    {"variable_set_to_nothing", Variables{{"HOME", "/home/u"}, {"CUDAENV_ROOT", ""}, k_no_shared}, "/home/u/.cudaenv"},
    {"shared", Variables{{"CUDAENV_ROOT", "/a"}, {"CUDAENV_SHARED_ROOT", "/b"}}, "/a", "/b"},
    {"shared_is_the_own_one", Variables{{"CUDAENV_ROOT", "/a"}, {"CUDAENV_SHARED_ROOT", "/a"}}, "/a"},
};

INSTANTIATE_TEST_SUITE_P(Rows, LocateRoots, testing::ValuesIn(k_rows), test::RowName());

TEST(Roots, unusable_variable_is_named) {
  for (const char* name : {"CUDAENV_ROOT", "CUDAENV_SHARED_ROOT"}) {
    for (const char* value : {"relative", "~/x", "/a\nb"}) {
      const auto roots = locate_roots(base::Environment(Variables{{"HOME", "/home/u"}, {name, value}}));
      ASSERT_FALSE(roots) << name << value;
      EXPECT_EQ(roots.error().kind, ErrorKind::config);
      EXPECT_NE(roots.error().message.find(name), std::string::npos);
      EXPECT_EQ(roots.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(Roots, home_that_is_relative_is_never_used) {
  for (const char* home : {"", "u", "./u"}) {
    const auto roots = locate_roots(base::Environment(Variables{{"HOME", home}, k_no_shared}));
    if (roots) {
      EXPECT_TRUE(roots->own.path.is_absolute()) << home;  // the home of the password database
    } else {
      EXPECT_EQ(roots.error().kind, ErrorKind::config) << home;
    }
  }
}

TEST(Roots, looking_creates_nothing) {
  const test::Scratch scratch;
  ASSERT_TRUE(locate_roots(base::Environment(Variables{{"HOME", scratch.path().native()}, k_no_shared})));
  EXPECT_TRUE(base::list_directory(scratch.path())->empty());
}

TEST(Roots, own_comes_before_shared) {
  const Roots roots{Root{"/a"}, Root{"/b"}};
  EXPECT_EQ(roots.both_paths(), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(roots.for_selection().own.view(), "/a");
  EXPECT_EQ(roots.for_selection().shared.view(), "/b");
  EXPECT_EQ(roots.own.toolkit("12.8.1"), "/a/versions/12.8.1");
  EXPECT_EQ(roots.own.library_shims(), "/a/shims/lib");
}

}  // namespace
}  // namespace cudaenv::store
