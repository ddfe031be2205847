// SPDX-License-Identifier: Apache-2.0
#include "store/staging.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "root_fixture.hpp"

namespace cudaenv::store {
namespace {

using Names = std::vector<std::string>;

class StagingTest : public test::TwoRoots {
 protected:
  const Root& root() const { return m_roots.own; }
  Names entries() const { return *base::list_directory(root().versions()); }
};

TEST_F(StagingTest, is_a_directory_of_ones_own_beside_the_toolkits) {
  const auto first = Staging::create(root(), "12.8.1");
  const auto second = Staging::create(root(), "12.8.1");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path(), second->path());
  EXPECT_EQ(first->path().parent_path(), root().versions());
  struct stat info = {};
  ASSERT_EQ(::stat(first->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST_F(StagingTest, goes_with_its_object_and_takes_back_what_it_made) {
  {
    const auto staging = Staging::create(root(), "12.8.1");
    ASSERT_TRUE(staging);
    ASSERT_TRUE(base::make_directories(staging->path() / "toolkit/bin"));
    ASSERT_EQ(::chmod((staging->path() / "toolkit").c_str(), 0500), 0);
  }
  EXPECT_EQ(base::entry_kind(root().path), base::EntryKind::absent);
}

TEST_F(StagingTest, directories_that_were_there_stay) {
  ASSERT_TRUE(base::make_directories(root().path));
  {
    const auto staging = Staging::create(root(), "12.8.1");
    ASSERT_TRUE(staging);
  }
  EXPECT_EQ(base::list_directory(root().path), Names{});
}

TEST_F(StagingTest, directories_with_a_toolkit_in_them_stay) {
  {
    const auto staging = Staging::create(root(), "12.8.1");
    ASSERT_TRUE(staging);
    ASSERT_TRUE(base::make_directories(staging->path() / "toolkit"));
    ASSERT_TRUE(commit_toolkit(staging->path() / "toolkit", root().toolkit("12.8.1")));
  }
  EXPECT_EQ(entries(), Names{"12.8.1"});
}

TEST_F(StagingTest, moved_one_is_removed_once) {
  auto staging = Staging::create(root(), "12.8.1");
  ASSERT_TRUE(staging);
  const base::Path path = staging->path();
  {
    const Staging moved = std::move(*staging);
    EXPECT_TRUE(base::directory_exists(path));
  }
  EXPECT_EQ(base::entry_kind(path), base::EntryKind::absent);
}

TEST_F(StagingTest, place_that_cannot_be_made_is_an_error_and_leaves_nothing) {
  m_scratch.file("own", "a file");
  const auto staging = Staging::create(root(), "12.8.1");
  ASSERT_FALSE(staging);
  EXPECT_EQ(staging.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(test::content_of(m_scratch / "own"), "a file");
}

// A child leaves a staging by being killed, with a toolkit's lock beside it.
void leave_dead_staging(const Root& root) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto staging = Staging::create(root, "12.8.1");
    const auto lock = lock_toolkit(root, "12.8.1", [](long) {});
    if (staging && lock && base::write_file(staging->path() / "archive", "half")) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(StagingTest, DL_11_dead_one_is_removed_and_a_living_one_stays) {
  add_toolkit(root(), "11.8.0");
  leave_dead_staging(root());
  EXPECT_EQ(entries().size(), 4u);  // toolkit, staging, two locks
  const auto living = Staging::create(root(), "12.4.1");
  ASSERT_TRUE(living);
  EXPECT_EQ(remove_dead_staging(root())->count, 1);
  EXPECT_TRUE(base::directory_exists(living->path()));
  EXPECT_EQ(entries(), (Names{living->path().filename(), living->path().filename().native() + ".lock", "11.8.0"}));
  EXPECT_EQ(remove_dead_staging(root())->count, 0);
}

TEST_F(StagingTest, abandoned_one_stays_until_the_next_removal) {
  base::Path path;
  {
    auto staging = Staging::create(root(), "12.8.1");
    ASSERT_TRUE(staging);
    path = staging->path();
    staging->abandon();
  }
  EXPECT_EQ(entries(), Names{path.filename()});
  EXPECT_EQ(remove_dead_staging(root())->count, 1);
  EXPECT_EQ(entries(), Names{});
}

TEST_F(StagingTest, toolkit_that_was_moved_aside_comes_back_unless_it_was_replaced) {
  add_toolkit(root(), ".old-12.8.1");
  add_toolkit(root(), ".old-11.8.0");
  add_toolkit(root(), "11.8.0");
  EXPECT_EQ(remove_dead_staging(root())->count, 2);
  EXPECT_EQ(entries(), (Names{"11.8.0", "12.8.1"}));
}

TEST_F(StagingTest, toolkit_that_is_being_replaced_is_left_to_the_one_that_does_it) {
  add_toolkit(root(), ".old-12.8.1");
  const auto lock = lock_toolkit(root(), "12.8.1", [](long) {});
  ASSERT_TRUE(lock);
  EXPECT_EQ(remove_dead_staging(root())->count, 0);
  EXPECT_EQ(remove_dead_staging(root(), "12.8.1")->count, 1);
  EXPECT_EQ(entries(), (Names{".lock-12.8.1", "12.8.1"}));
}

TEST_F(StagingTest, nothing_to_remove_where_there_is_no_root) {
  EXPECT_EQ(remove_dead_staging(root())->count, 0);
  EXPECT_EQ(base::entry_kind(root().path), base::EntryKind::absent);
}

TEST_F(StagingTest, toolkit_is_locked_for_one_at_a_time) {
  ASSERT_TRUE(base::make_directories(root().versions()));
  const auto lock = lock_toolkit(root(), "12.8.1", [](long) {});
  ASSERT_TRUE(lock);
  EXPECT_TRUE(lock_toolkit(root(), "12.4.1", [](long) {}));
  EXPECT_FALSE(*base::FileLock::try_acquire(root().versions() / ".lock-12.8.1"));
}

TEST_F(StagingTest, commit_puts_a_new_tree_in_its_place) {
  ASSERT_TRUE(base::make_directories(root().versions() / "new"));
  ASSERT_TRUE(base::write_file(root().versions() / "new/f", "new"));
  ASSERT_TRUE(commit_toolkit(root().versions() / "new", root().toolkit("12.8.1")));
  EXPECT_EQ(entries(), Names{"12.8.1"});
  EXPECT_EQ(test::content_of(root().toolkit("12.8.1") / "f"), "new");
}

TEST_F(StagingTest, commit_exchanges_with_what_stood_there) {
  add_toolkit(root(), "12.8.1");
  ASSERT_TRUE(base::make_directories(root().versions() / "new"));
  ASSERT_TRUE(commit_toolkit(root().versions() / "new", root().toolkit("12.8.1")));
  EXPECT_TRUE(base::list_directory(root().toolkit("12.8.1"))->empty());
  EXPECT_TRUE(base::path_exists(root().versions() / "new/receipt.json"));
}

TEST_F(StagingTest, commit_over_an_adopted_toolkit_leaves_the_real_one_alone) {
  const base::Path real = adopt(root(), "usr/local/cuda", "12.8.1");
  ASSERT_TRUE(base::make_directories(root().versions() / "new"));
  ASSERT_TRUE(commit_toolkit(root().versions() / "new", root().toolkit("12.8.1")));
  EXPECT_EQ(base::entry_kind(root().toolkit("12.8.1")), base::EntryKind::directory);
  EXPECT_EQ(base::entry_kind(root().versions() / "new"), base::EntryKind::link);
  ASSERT_TRUE(base::remove_tree(root().versions() / "new"));
  EXPECT_TRUE(base::executable_exists(real / "bin/nvcc"));
}

TEST_F(StagingTest, commit_of_nothing_fails_and_changes_nothing) {
  add_toolkit(root(), "12.8.1");
  EXPECT_FALSE(commit_toolkit(root().versions() / "absent", root().toolkit("12.8.1")));
  EXPECT_FALSE(commit_toolkit(root().versions() / "absent", root().toolkit("12.4.1")));
  EXPECT_EQ(entries(), Names{"12.8.1"});
}

}  // namespace
}  // namespace cudaenv::store
