// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "component/redist/scratch.hpp"

namespace cudaenv::base {
namespace {

mode_t mode_of(const Path& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

ino_t inode_of(const Path& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_ino;
}

class UmaskGuard {
 public:
  explicit UmaskGuard(mode_t mask) : m_former(::umask(mask)) {}
  ~UmaskGuard() { ::umask(m_former); }

 private:
  mode_t m_former;
};

// Runs `f` in a child that is not root, since root may do everything; whether it returned true.
template <class F>
bool as_nobody(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
    ::_exit(f() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Files : public testing::Test {
 protected:
  test::Scratch m_scratch;
};

// --- read_file ---

TEST_F(Files, read_gives_every_byte) {
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += static_cast<char>(i % 256);
  EXPECT_EQ(read_file(m_scratch.file("f", content)), content);
  EXPECT_EQ(read_file(m_scratch.file("empty", "")), "");
}

TEST_F(Files, read_of_what_is_not_there_is_nothing_and_no_error) {
  m_scratch.file("f", "");
  for (const char* name : {"absent", "absent/below", "f/below"}) {
    const auto content = read_file(m_scratch / name);
    ASSERT_TRUE(content) << name;
    EXPECT_EQ(*content, std::nullopt) << name;
  }
}

TEST_F(Files, read_takes_exactly_as_much_as_allowed) {
  const Path path = m_scratch.file("f", "12345678");
  EXPECT_TRUE(read_file(path, 8));
  const auto content = read_file(path, 7);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().kind, ErrorKind::filesystem);
  EXPECT_EQ(content.error().message, path.native() + " is larger than 7 B");
}

TEST_F(Files, read_of_what_is_no_file_is_refused_and_never_waits) {
  ASSERT_EQ(::mkfifo((m_scratch / "fifo").c_str(), 0600), 0);
  m_scratch.directory("directory");
  for (const Path& path : {m_scratch / "fifo", m_scratch / "directory", Path("/dev/null")}) {
    const auto content = read_file(path);
    ASSERT_FALSE(content) << path;
    EXPECT_EQ(content.error().kind, ErrorKind::filesystem) << path;
    EXPECT_NE(content.error().message.find(path.native()), std::string::npos);
  }
}

TEST_F(Files, read_of_what_may_not_be_read_is_an_error) {
  const Path path = m_scratch.file("f", "secret");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(m_scratch.path().c_str(), 0755), 0);
  EXPECT_TRUE(as_nobody([&] {
    const auto content = read_file(path);
    return !content && content.error().kind == ErrorKind::filesystem;
  }));
}

// --- write_file ---

TEST_F(Files, write_replaces_the_file_by_another_one) {
  const Path path = m_scratch.file("f", "old");
  const ino_t before = inode_of(path);
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(test::content_of(path), "new");
  EXPECT_NE(inode_of(path), before);
  EXPECT_EQ(list_directory(m_scratch.path()), std::vector<std::string>{"f"});  // nothing is left beside it
}

TEST_F(Files, write_keeps_the_mode_of_a_file_that_was_there) {
  const Path path = m_scratch.file("f", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path, "new", 0755));
  EXPECT_EQ(mode_of(path), 0640u);
}

TEST_F(Files, write_gives_a_new_file_its_mode_whatever_the_umask) {
  const UmaskGuard umask(077);
  ASSERT_TRUE(write_file(m_scratch / "f", "x", 0755, Durable::no));
  EXPECT_EQ(mode_of(m_scratch / "f"), 0755u);
}

TEST_F(Files, write_follows_a_link_so_that_it_stays_one) {
  m_scratch.directory("dotfiles");
  m_scratch.file("dotfiles/f", "old");
  ASSERT_TRUE(make_link("dotfiles/f", m_scratch / "link"));
  ASSERT_TRUE(make_link("link", m_scratch / "link-to-link"));
  ASSERT_TRUE(write_file(m_scratch / "link-to-link", "new"));
  EXPECT_EQ(entry_kind(m_scratch / "link"), EntryKind::link);
  EXPECT_EQ(entry_kind(m_scratch / "link-to-link"), EntryKind::link);
  EXPECT_EQ(test::content_of(m_scratch / "dotfiles/f"), "new");
}

TEST_F(Files, write_through_a_dangling_link_makes_its_target) {
  m_scratch.directory("dotfiles");
  ASSERT_TRUE(make_link("dotfiles/new", m_scratch / "link"));
  ASSERT_TRUE(write_file(m_scratch / "link", "x"));
  EXPECT_EQ(test::content_of(m_scratch / "dotfiles/new"), "x");
  EXPECT_EQ(entry_kind(m_scratch / "link"), EntryKind::link);
}

TEST_F(Files, write_through_a_circle_of_links_fails) {
  ASSERT_TRUE(make_link("b", m_scratch / "a"));
  ASSERT_TRUE(make_link("a", m_scratch / "b"));
  EXPECT_FALSE(write_file(m_scratch / "a", "x"));
  EXPECT_EQ(entry_kind(m_scratch / "a"), EntryKind::link);
}

TEST_F(Files, write_that_fails_leaves_nothing_behind) {
  m_scratch.directory("d/below");
  EXPECT_FALSE(write_file(m_scratch / "absent/f", "x"));
  EXPECT_FALSE(write_file(m_scratch / "d", "x"));  // a directory cannot be replaced
  EXPECT_EQ(list_directory(m_scratch.path()), std::vector<std::string>{"d"});
}

// --- make_directories ---

TEST_F(Files, made_directories_are_open_to_others_under_any_umask) {
  const UmaskGuard umask(077);
  const auto created = make_directories(m_scratch / "a/b/c");
  ASSERT_TRUE(created);
  EXPECT_EQ(*created, (std::vector<Path>{m_scratch / "a", m_scratch / "a/b", m_scratch / "a/b/c"}));
  for (const Path& path : *created) EXPECT_EQ(mode_of(path), 0755u);
  EXPECT_TRUE(make_directories(m_scratch / "a/b/c")->empty());
  EXPECT_EQ(make_directories(m_scratch / "a/d")->size(), 1u);
}

TEST_F(Files, directories_that_cannot_all_be_made_are_not_made_at_all) {
  m_scratch.file("f", "");
  EXPECT_FALSE(make_directories(m_scratch / "f"));
  EXPECT_FALSE(make_directories(m_scratch / "f/a/b"));
  EXPECT_FALSE(make_directories(m_scratch / "a/b" / std::string(300, 'x')));
  EXPECT_EQ(entry_kind(m_scratch / "a"), EntryKind::absent);
}

// --- remove_tree ---

TEST_F(Files, remove_takes_the_tree_but_nothing_that_links_lead_to) {
  m_scratch.directory("outside");
  m_scratch.file("outside/kept", "x");
  m_scratch.directory("t/a/b");
  m_scratch.file("t/a/b/f", "");
  ASSERT_TRUE(make_link(m_scratch / "outside", m_scratch / "t/a/link"));
  ASSERT_TRUE(make_link("..", m_scratch / "t/a/b/up"));
  ASSERT_TRUE(make_link("nowhere", m_scratch / "t/dangling"));
  ASSERT_EQ(::mkfifo((m_scratch / "t/fifo").c_str(), 0600), 0);
  ASSERT_TRUE(remove_tree(m_scratch / "t"));
  EXPECT_EQ(entry_kind(m_scratch / "t"), EntryKind::absent);
  EXPECT_EQ(test::content_of(m_scratch / "outside/kept"), "x");
}

TEST_F(Files, remove_of_a_link_removes_the_link) {
  m_scratch.directory("outside");
  m_scratch.file("outside/kept", "x");
  ASSERT_TRUE(make_link("outside", m_scratch / "link"));
  ASSERT_TRUE(remove_tree(m_scratch / "link"));
  EXPECT_EQ(entry_kind(m_scratch / "link"), EntryKind::absent);
  EXPECT_EQ(test::content_of(m_scratch / "outside/kept"), "x");
}

TEST_F(Files, remove_opens_read_only_directories) {
  ASSERT_EQ(::chmod(m_scratch.path().c_str(), 0777), 0);
  const Path tree = m_scratch / "t";
  EXPECT_TRUE(as_nobody([&] {
    if (!make_directories(tree / "shut/below") || !write_file(tree / "shut/below/f", "", 0400)) return false;
    if (::chmod((tree / "shut/below").c_str(), 0500) != 0 || ::chmod((tree / "shut").c_str(), 0) != 0) return false;
    return ::chmod(tree.c_str(), 0500) == 0 && remove_tree(tree).has_value();
  }));
  EXPECT_EQ(entry_kind(tree), EntryKind::absent);
}

TEST_F(Files, remove_that_is_not_allowed_says_so) {
  m_scratch.directory("t/below");
  ASSERT_EQ(::chmod(m_scratch.path().c_str(), 0755), 0);
  if (::geteuid() != 0) GTEST_SKIP() << "needs a tree of another user, so root";
  EXPECT_TRUE(as_nobody([&] {
    const auto removed = remove_tree(m_scratch / "t");
    return !removed && removed.error().kind == ErrorKind::filesystem;
  }));
  EXPECT_TRUE(directory_exists(m_scratch / "t/below"));
}

TEST_F(Files, remove_of_what_is_not_there_is_done_already) {
  EXPECT_TRUE(remove_tree(m_scratch / "absent"));
  EXPECT_TRUE(remove_tree(m_scratch / "absent/below"));
  m_scratch.file("f", "");
  EXPECT_TRUE(remove_tree(m_scratch / "f"));
  EXPECT_EQ(entry_kind(m_scratch / "f"), EntryKind::absent);
}

// --- The rest ---

TEST_F(Files, kinds_are_those_of_the_entry_itself) {
  m_scratch.file("f", "");
  ASSERT_TRUE(make_link("f", m_scratch / "link"));
  ASSERT_TRUE(make_link("nowhere", m_scratch / "dangling"));
  ASSERT_EQ(::mkfifo((m_scratch / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(entry_kind(m_scratch / "f"), EntryKind::file);
  EXPECT_EQ(entry_kind(m_scratch.path()), EntryKind::directory);
  EXPECT_EQ(entry_kind(m_scratch / "link"), EntryKind::link);
  EXPECT_EQ(entry_kind(m_scratch / "dangling"), EntryKind::link);
  EXPECT_EQ(entry_kind(m_scratch / "fifo"), EntryKind::other);
  EXPECT_EQ(entry_kind(m_scratch / "absent"), EntryKind::absent);
  EXPECT_TRUE(path_exists(m_scratch / "link"));
  EXPECT_FALSE(path_exists(m_scratch / "dangling"));
  EXPECT_EQ(link_target(m_scratch / "dangling"), Path("nowhere"));
  EXPECT_FALSE(link_target(m_scratch / "f"));
}

TEST_F(Files, executable_is_a_file_that_somebody_may_run) {
  m_scratch.directory("d");
  EXPECT_FALSE(executable_exists(m_scratch / "d"));
  EXPECT_FALSE(executable_exists(m_scratch / "absent"));
  const Path path = m_scratch.file("f", "");
  EXPECT_FALSE(executable_exists(path));
  ASSERT_EQ(::chmod(path.c_str(), 0601), 0);
  EXPECT_TRUE(executable_exists(path));
}

TEST_F(Files, names_are_listed_in_order) {
  for (const char* name : {"b", ".hidden", "a", "C"}) m_scratch.file(name, "");
  EXPECT_EQ(list_directory(m_scratch.path()), (std::vector<std::string>{".hidden", "C", "a", "b"}));
  EXPECT_TRUE(list_directory(m_scratch / "absent")->empty());
  EXPECT_TRUE(list_directory(m_scratch / "a")->empty());
}

TEST_F(Files, free_space_is_that_of_the_nearest_directory_there_is) {
  const auto here = free_space(m_scratch.path());
  const auto below = free_space(m_scratch / "not/there/yet");
  ASSERT_TRUE(here && below);
  EXPECT_GT(*here, 0u);
  EXPECT_GT(*below, 0u);
}

TEST(FileError, offers_df_when_the_disk_is_full) {
  EXPECT_EQ(file_error("write", "/a/b\n", ENOSPC).message, "cannot write /a/b\\x0a: No space left on device");
  EXPECT_EQ(file_error("write", "/a/b", ENOSPC).hint, "df -h /a");
  EXPECT_EQ(file_error("write", "/a/b", EDQUOT).hint, "df -h /a");
  EXPECT_EQ(file_error("read", "/a/b", EACCES).hint, "");
}

// --- copy_file and link_or_copy ---

timespec modified(const Path& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mtim;
}

void expect_copy(const Path& copy, const Path& of) {
  EXPECT_NE(inode_of(copy), inode_of(of));
  EXPECT_EQ(test::content_of(copy), test::content_of(of));
  EXPECT_EQ(mode_of(copy), mode_of(of));
  EXPECT_EQ(modified(copy).tv_sec, modified(of).tv_sec);
  EXPECT_EQ(modified(copy).tv_nsec, modified(of).tv_nsec);
}

TEST_F(Files, copy_has_the_content_the_mode_and_the_times) {
  const UmaskGuard umask(077);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3'000'001}}) {
    const Path from = m_scratch.file("from", std::string(size, 'x') + "end");
    const timespec times[2] = {{1'000'000'000, 7}, {1'100'000'000, 5}};
    ASSERT_EQ(::utimensat(AT_FDCWD, from.c_str(), times, 0), 0);
    ASSERT_EQ(::chmod(from.c_str(), 0555), 0);
    const Fd directory(::open(m_scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto copied = copy_file(from, *directory, "to");
    ASSERT_TRUE(copied) << copied.error().message;
    expect_copy(m_scratch / "to", from);
    ASSERT_TRUE(remove_tree(from) && remove_tree(m_scratch / "to"));
  }
}

TEST_F(Files, copy_replaces_nothing_and_follows_no_link) {
  const Path from = m_scratch.file("from", "new");
  const Path there = m_scratch.file("there", "old");
  ASSERT_TRUE(make_link("there", m_scratch / "link"));
  ASSERT_TRUE(make_link("absent", m_scratch / "dangling"));
  for (const char* taken : {"there", "link", "dangling"})
    EXPECT_FALSE(copy_file(from, AT_FDCWD, (m_scratch / taken).c_str())) << taken;
  EXPECT_EQ(test::content_of(there), "old");
  EXPECT_FALSE(path_exists(m_scratch / "absent"));
  for (const Path& no_file : {m_scratch / "link", m_scratch.directory("directory"), m_scratch / "absent"}) {
    const auto copied = copy_file(no_file, AT_FDCWD, (m_scratch / "to").c_str());
    ASSERT_FALSE(copied);
    EXPECT_NE(copied.error().message.find(no_file.native()), std::string::npos);
    EXPECT_EQ(entry_kind(m_scratch / "to"), EntryKind::absent);
  }
}

TEST_F(Files, a_file_is_linked_where_it_can_be) {
  const Path from = m_scratch.file("from", "x");
  ASSERT_TRUE(link_or_copy(from, AT_FDCWD, (m_scratch / "to").c_str()));
  EXPECT_EQ(inode_of(m_scratch / "to"), inode_of(from));
  const auto again = link_or_copy(from, AT_FDCWD, (m_scratch / "to").c_str());
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("cannot link"), std::string::npos);
}

TEST_F(Files, a_file_is_copied_to_another_file_system) {
  std::string pattern = "/dev/shm/cudaenv-test-XXXXXX";
  struct stat here = {};
  struct stat there = {};
  ASSERT_EQ(::stat(m_scratch.path().c_str(), &here), 0);
  if (::stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev || !::mkdtemp(pattern.data()))
    GTEST_SKIP() << "there is one file system only";
  const Path from = m_scratch.file("from", "x");
  ASSERT_EQ(::chmod(from.c_str(), 0750), 0);
  const auto linked = link_or_copy(from, AT_FDCWD, (pattern + "/to").c_str());
  EXPECT_TRUE(linked);
  if (linked) expect_copy(pattern + "/to", from);
  EXPECT_TRUE(remove_tree(pattern));
}

// The kernel may let only the owner give a file another name (fs.protected_hardlinks).
TEST_F(Files, a_file_of_somebody_else_is_linked_or_copied) {
  const Path from = m_scratch.file("from", "x");
  const Path to = m_scratch.directory("to") / "copy";
  ASSERT_EQ(::chmod(m_scratch.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(from.c_str(), 0644), 0);
  ASSERT_EQ(::chmod((m_scratch / "to").c_str(), 0777), 0);
  EXPECT_TRUE(as_nobody([&] { return link_or_copy(from, AT_FDCWD, to.c_str()).has_value(); }));
  EXPECT_EQ(test::content_of(to), "x");
  EXPECT_EQ(mode_of(to), 0644u);
}

}  // namespace
}  // namespace cudaenv::base
