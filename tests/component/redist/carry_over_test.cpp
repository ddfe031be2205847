// SPDX-License-Identifier: Apache-2.0
#include "redist/carry_over.hpp"

#include <sys/stat.h>

#include "component/redist/scratch.hpp"
#include "store/receipt.hpp"

namespace cudaenv::redist {
namespace {

// An old tree that its receipt describes, and a new one without the product's files.
class CarryOver : public testing::Test {
 protected:
  void SetUp() override {
    store::Receipt receipt;
    receipt.release = {12, 8, 1};
    receipt.files = {{"bin/nvcc", "cuda_nvcc", 0755, 1, "", ""},
                     {"include/cudnn/v9/cudnn.h", "cudnn", 0644, 1, "", ""},
                     {"lib64", "", 0, 0, "", "lib"}};
    for (const char* directory : {"old/bin", "old/include/cudnn/v9", "new/bin", "new/include"})
      m_scratch.directory(directory);
    for (const char* file : {"old/bin/nvcc", "old/include/cudnn/v9/cudnn.h", "new/bin/nvcc"}) m_scratch.file(file, "n");
    m_scratch.file("old/receipt.json", to_json(receipt));
  }

  void carry() const {
    const auto carried = carry_over(m_scratch / "old", m_scratch / "new");
    ASSERT_TRUE(carried) << carried.error().message;
  }
  void set_mode(const char* path, mode_t mode) const {
    ASSERT_EQ(::chmod((m_scratch / path).c_str(), mode), 0) << path;
  }
  struct stat info(const char* path) const {
    struct stat found = {};
    EXPECT_EQ(::lstat((m_scratch / path).c_str(), &found), 0) << path;
    return found;
  }
  mode_t mode(const char* path) const { return info(path).st_mode & 07777; }
  base::EntryKind kind(const char* path) const { return base::entry_kind(m_scratch / path); }

  test::Scratch m_scratch;
};

TEST_F(CarryOver, files_and_links_that_the_receipt_does_not_know) {
  m_scratch.directory("old/include/mine");
  m_scratch.file("old/include/mine/own.h", "own");
  ASSERT_TRUE(base::make_link("nvcc", m_scratch / "old/bin/mine"));
  carry();
  EXPECT_EQ(info("new/include/mine/own.h").st_ino, info("old/include/mine/own.h").st_ino);
  EXPECT_EQ(base::link_target(m_scratch / "new/bin/mine")->native(), "nvcc");
  EXPECT_NE(info("new/bin/nvcc").st_ino, info("old/bin/nvcc").st_ino);
  EXPECT_EQ(kind("new/receipt.json"), base::EntryKind::absent);
}

TEST_F(CarryOver, empty_directories) {
  m_scratch.directory("old/mine/a/b");
  m_scratch.directory("old/include/cudnn/mine");
  carry();
  EXPECT_EQ(kind("new/mine/a/b"), base::EntryKind::directory);
  EXPECT_EQ(kind("new/include/cudnn/mine"), base::EntryKind::directory);
  EXPECT_EQ(kind("new/include/cudnn/v9"), base::EntryKind::absent) << "nobody has put that there";
}

TEST_F(CarryOver, directories_of_what_was_removed_go_with_it) {
  carry();
  EXPECT_EQ(kind("new/include/cudnn"), base::EntryKind::absent);
}

TEST_F(CarryOver, permissions_of_directories_that_only_the_old_tree_has) {
  m_scratch.directory("old/mine/deep");
  m_scratch.directory("old/shared");
  m_scratch.file("old/mine/deep/file", "x");
  m_scratch.file("old/include/cudnn/own.h", "x");
  set_mode("old/mine/deep", 0555);  // nothing could be put into it if it were so at once
  set_mode("old/mine", 0700);
  set_mode("old/shared", 02775);
  set_mode("old/include/cudnn", 0750);
  set_mode("old/bin", 0700);
  carry();
  EXPECT_EQ(mode("new/mine"), 0700u);
  EXPECT_EQ(mode("new/mine/deep"), 0555u);
  EXPECT_EQ(mode("new/shared"), 02775u);
  EXPECT_EQ(mode("new/include/cudnn"), 0750u);
  EXPECT_EQ(mode("new/bin"), 0755u) << "that is the new tree's";
  EXPECT_EQ(test::content_of(m_scratch / "new/mine/deep/file"), "x");
}

TEST_F(CarryOver, what_the_new_tree_has_a_use_for_its_name_is_not_kept) {
  m_scratch.directory("old/lib64/mine");  // where a link belongs
  m_scratch.file("old/version.json", "mine");
  m_scratch.directory("old/doc");
  m_scratch.file("old/doc/mine", "x");
  ASSERT_TRUE(base::make_link("lib", m_scratch / "new/lib64"));
  m_scratch.directory("new/lib");
  m_scratch.file("new/version.json", "new");
  m_scratch.file("new/doc", "new");
  carry();
  EXPECT_EQ(kind("new/lib64"), base::EntryKind::link);
  EXPECT_EQ(kind("new/lib/mine"), base::EntryKind::absent);
  EXPECT_EQ(test::content_of(m_scratch / "new/version.json"), "new");
  EXPECT_EQ(test::content_of(m_scratch / "new/doc"), "new");
}

TEST_F(CarryOver, a_file_that_cannot_be_linked_is_copied) {
  std::string pattern = "/dev/shm/cudaenv-test-XXXXXX";
  struct stat there = {};
  if (::stat("/dev/shm", &there) != 0 || info("old").st_dev == there.st_dev || !::mkdtemp(pattern.data()))
    GTEST_SKIP() << "there is one file system only";
  m_scratch.file("old/bin/mine", "mine");
  set_mode("old/bin/mine", 0750);
  const auto carried = carry_over(m_scratch / "old", pattern);
  EXPECT_TRUE(carried);
  struct stat copy = {};
  EXPECT_EQ(::lstat((pattern + "/bin/mine").c_str(), &copy), 0);
  EXPECT_EQ(copy.st_mode & 07777, 0750u);
  EXPECT_EQ(copy.st_mtim.tv_sec, info("old/bin/mine").st_mtim.tv_sec);
  EXPECT_EQ(copy.st_mtim.tv_nsec, info("old/bin/mine").st_mtim.tv_nsec);
  EXPECT_EQ(test::content_of(pattern + "/bin/mine"), "mine");
  EXPECT_TRUE(base::remove_tree(pattern));
}

TEST_F(CarryOver, nothing_is_taken_from_a_tree_whose_receipt_is_broken) {
  m_scratch.file("old/mine", "x");
  m_scratch.file("old/receipt.json", "{}");
  const auto carried = carry_over(m_scratch / "old", m_scratch / "new");
  ASSERT_FALSE(carried);
  EXPECT_EQ(carried.error().kind, ErrorKind::integrity);
  EXPECT_EQ(kind("new/mine"), base::EntryKind::absent);
}

}  // namespace
}  // namespace cudaenv::redist
