// SPDX-License-Identifier: Apache-2.0
#include "store/toolkits.hpp"

#include "root_fixture.hpp"

namespace cudaenv::store {
namespace {

using Names = std::vector<std::string>;

class Toolkits : public test::TwoRoots {
 protected:
  Names installed() const {
    const auto toolkits = installed_toolkits(m_roots);
    EXPECT_TRUE(toolkits);
    Names names;
    for (const Toolkit& toolkit : *toolkits) names.push_back(toolkit.name);
    return names;
  }
};

TEST_F(Toolkits, none_without_roots) {
  EXPECT_EQ(installed(), Names{});
  EXPECT_EQ(base::entry_kind(m_roots.own.path), base::EntryKind::absent);
}

TEST_F(Toolkits, names_come_before_releases_and_these_as_numbers) {
  for (const char* name : {"12.8.1", "12.10.0", "11.8.0"}) add_toolkit(m_roots.own, name);
  add_toolkit(m_roots.shared.value(), "9.2.0");
  adopt(m_roots.own, "usr/local/cuda", "site");
  EXPECT_EQ(installed(), (Names{"site", "9.2.0", "11.8.0", "12.8.1", "12.10.0"}));
}

TEST_F(Toolkits, own_one_hides_a_shared_one_of_the_same_name) {
  add_toolkit(*m_roots.shared, "12.8.1");
  EXPECT_TRUE((*find_toolkit(m_roots, "12.8.1"))->is_shared);
  const base::Path own = add_toolkit(m_roots.own, "12.8.1");
  EXPECT_EQ(installed(), Names{"12.8.1"});
  EXPECT_FALSE((*find_toolkit(m_roots, "12.8.1"))->is_shared);
  EXPECT_EQ((*find_toolkit(m_roots, "12.8.1"))->directory, own);
}

TEST_F(Toolkits, DL_11_what_is_not_whole_is_none) {
  ASSERT_TRUE(base::make_directories(m_roots.own.toolkit("12.8.1") / "bin"));  // no receipt
  add_toolkit(m_roots.own, ".staging-12.4.1-7-0");
  add_toolkit(m_roots.own, "..bad");
  add_toolkit(m_roots.own, "12.8");
  ASSERT_TRUE(base::write_file(m_roots.own.toolkit("12.4.1"), "a file"));
  ASSERT_TRUE(base::make_link(m_scratch / "absent", m_roots.own.toolkit("gone")));
  EXPECT_EQ(installed(), Names{});
}

TEST_F(Toolkits, adopted_one_tells_where_it_lies) {
  const base::Path real = adopt(m_roots.own, "usr/local/cuda-12.4", "site");
  const auto toolkit = find_toolkit(m_roots, "site");
  ASSERT_TRUE(toolkit && *toolkit);
  EXPECT_EQ((*toolkit)->adopted_from, real);
  EXPECT_EQ((*toolkit)->release, std::nullopt);
  EXPECT_EQ((*toolkit)->directory, m_roots.own.toolkit("site"));
}

TEST_F(Toolkits, finding_one_that_is_not_there_is_no_error) {
  const auto toolkit = find_toolkit(m_roots, "../own");
  ASSERT_TRUE(toolkit);
  EXPECT_EQ(*toolkit, std::nullopt);
}

TEST_F(Toolkits, tools_are_the_executables_of_bin) {
  const base::Path directory = add_toolkit(m_roots.own, "12.8.1");
  ASSERT_TRUE(base::write_file(directory / "bin/nvcc.profile", ""));
  ASSERT_TRUE(base::write_file(directory / "bin/cuobjdump", "", 0755));
  ASSERT_TRUE(base::make_directories(directory / "bin/crt"));
  ASSERT_TRUE(base::make_link("../absent", directory / "bin/dangling"));
  ASSERT_TRUE(base::make_link("nvcc", directory / "bin/nvcc-link"));
  EXPECT_EQ(tools_of(**find_toolkit(m_roots, "12.8.1")), (Names{"cuobjdump", "nvcc", "nvcc-link"}));
}

TEST_F(Toolkits, adopted_one_that_is_gone_is_registered_but_not_installed) {
  add_toolkit(m_roots.own, "12.8.1");
  ASSERT_TRUE(base::make_link(m_scratch / "absent", m_roots.own.toolkit("site")));
  ASSERT_TRUE(base::make_directories(m_roots.own.toolkit("12.4.1") / "bin"));  // unfinished, not missing
  const auto all = registered_toolkits(m_roots);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->front().name, "site");
  EXPECT_TRUE(all->front().is_missing);
  EXPECT_EQ(all->front().adopted_from, m_scratch / "absent");
  EXPECT_FALSE(all->back().is_missing);
  EXPECT_EQ(installed(), Names{"12.8.1"});
}

TEST_F(Toolkits, missing_one_hides_only_another_missing_one) {
  ASSERT_TRUE(base::make_directories(m_roots.own.versions()));
  ASSERT_TRUE(base::make_directories(m_roots.shared->versions()));
  for (const Root* root : m_roots.both()) ASSERT_TRUE(base::make_link(m_scratch / "absent", root->toolkit("site")));
  ASSERT_TRUE(base::make_link(m_scratch / "absent", m_roots.own.toolkit("12.8.1")));
  add_toolkit(*m_roots.shared, "12.8.1");
  EXPECT_EQ(registered_toolkits(m_roots)->size(), 3u);
  EXPECT_TRUE((*find_toolkit(m_roots, "12.8.1"))->is_shared);
}

struct ShimCase {
  std::string_view tool;
  bool of_installed;
  bool of_adopted;
};

class GetsShim : public testing::TestWithParam<ShimCase> {};

TEST_P(GetsShim, where_it_is_not_in_the_way_of_the_system) {
  const auto& [tool, of_installed, of_adopted] = GetParam();
  EXPECT_EQ(gets_shim({"12.8.1", "/x", std::nullopt, std::nullopt}, tool), of_installed) << tool;
  EXPECT_EQ(gets_shim({"site", "/x", std::nullopt, "/y"}, tool), of_adopted) << tool;
}

constexpr ShimCase k_shim_cases[] = {
    {"nvcc", true, true},
    {"cuda-gdb", true, true},
    {"cuda-gdb-python3.12-tui", true, true},
    {"ncu-ui", true, true},
    {"cu++filt", true, true},
    {"__nvcc_device_query", true, true},
    {"nsight_ee_plugins_manage.sh", true, true},
    {"of-a-coming-release", true, true},
    {"ls", true, false},  // the system has it, wherever this runs
    {"gcc", false, false},
    {"gcc-13", false, false},
    {"g++", false, false},
    {"x86_64-linux-gnu-g++-13", false, false},
    {"c++", false, false},
    {"clang++-14", false, false},
    {"clang-format", false, false},
    {"python3", false, false},
    {"python3.12", false, false},
    {"python3.12-config", false, false},
    {"pip3", false, false},
    {"ld.gold", false, false},
    {"gdb", false, false},
    {"sh", false, false},
    {"cudaenv", false, false},
    {".hidden", false, false},
};
INSTANTIATE_TEST_SUITE_P(, GetsShim, testing::ValuesIn(k_shim_cases));

}  // namespace
}  // namespace cudaenv::store
