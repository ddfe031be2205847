// SPDX-License-Identifier: Apache-2.0
#include "store/disk_use.hpp"

#include <array>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "component/redist/scratch.hpp"

namespace cudaenv::store {
namespace {

// What the system says of one file or directory.
std::uint64_t blocks(const base::Path& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

class DiskUseTest : public testing::Test {
 protected:
  void SetUp() override {
    m_a = m_scratch.directory("a");
    m_b = m_scratch.directory("b");
    m_scratch.directory("a/lib");
    m_large = m_scratch.file("a/lib/large", std::string(100'000, 'x'));
    m_small = m_scratch.file("b/small", "x");
    ASSERT_GT(blocks(m_large), 90'000u);
  }

  DiskUses uses() const {
    const std::array trees{m_a, m_b};
    auto uses = disk_uses(trees);
    EXPECT_TRUE(uses);
    return std::move(*uses);
  }

  std::uint64_t directories_of_a() const { return blocks(m_a) + blocks(m_a / "lib"); }

  test::Scratch m_scratch;
  base::Path m_a, m_b, m_large, m_small;
};

TEST_F(DiskUseTest, trees_that_share_nothing) {
  const DiskUses all = uses();
  EXPECT_EQ(all.trees[0].own, directories_of_a() + blocks(m_large));
  EXPECT_EQ(all.trees[1].own, blocks(m_b) + blocks(m_small));
  EXPECT_EQ(all.trees[0].shared, 0u);
  EXPECT_EQ(all.total, all.trees[0].own + all.trees[1].own);
}

TEST_F(DiskUseTest, links_within_a_tree_count_once_and_are_its_own) {
  const DiskUses before = uses();
  std::filesystem::create_hard_link(m_large, m_a / "lib/again");
  std::filesystem::create_hard_link(m_large, m_a / "lib/once more");
  EXPECT_EQ(uses().trees[0].own, before.trees[0].own);
  EXPECT_EQ(uses().trees[0].shared, 0u);
  EXPECT_EQ(uses().total, before.total);
}

TEST_F(DiskUseTest, what_two_trees_have_is_shared_and_counts_once_in_all) {
  const DiskUses before = uses();
  std::filesystem::create_hard_link(m_large, m_b / "one");
  std::filesystem::create_hard_link(m_large, m_b / "two");
  const DiskUses all = uses();
  EXPECT_EQ(all.trees[0].own, directories_of_a());
  EXPECT_EQ(all.trees[0].shared, blocks(m_large));
  EXPECT_EQ(all.trees[1].own, blocks(m_b) + blocks(m_small));
  EXPECT_EQ(all.trees[1].shared, blocks(m_large));
  EXPECT_EQ(all.total, before.total);
}

TEST_F(DiskUseTest, what_has_a_link_elsewhere_is_neither_freed_nor_shared) {
  std::filesystem::create_hard_link(m_large, m_scratch / "elsewhere");
  const DiskUses all = uses();
  EXPECT_EQ(all.trees[0].own, directories_of_a());
  EXPECT_EQ(all.trees[0].shared, 0u);
}

TEST_F(DiskUseTest, holes_take_nothing_and_links_are_not_followed) {
  const DiskUses before = uses();
  std::filesystem::create_directory_symlink(m_a, m_b / "link");
  std::filesystem::create_symlink(m_b, m_b / "loop");
  m_scratch.file("b/holes", "");
  std::filesystem::resize_file(m_b / "holes", 1 << 30);
  EXPECT_LE(uses().trees[1].own, before.trees[1].own + 3 * 4096);
}

TEST_F(DiskUseTest, no_trees_and_absent_ones) {
  EXPECT_EQ(disk_uses({})->total, 0u);
  const std::array trees{m_scratch / "nowhere"};
  EXPECT_EQ(disk_uses(trees)->trees.front().own, 0u);
}

}  // namespace
}  // namespace cudaenv::store
