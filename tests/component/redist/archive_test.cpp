// SPDX-License-Identifier: Apache-2.0
#include "redist/archive.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <ostream>

#include <sys/resource.h>
#include <sys/stat.h>

#include "redist/digest.hpp"
#include "scratch.hpp"
#include "tar_file.hpp"

namespace cudaenv::redist {
namespace {

using test::directory;
using test::file;
using test::hard_link;
using test::link;
using test::Member;
using test::Scratch;

const std::function<bool()> k_always = [] { return true; };

struct stat info_of(const base::Path& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

mode_t mode_of(const base::Path& path) { return info_of(path).st_mode & 07777; }

std::map<std::string, UnpackedEntry> by_path(const std::vector<UnpackedEntry>& entries) {
  std::map<std::string, UnpackedEntry> map;
  for (const UnpackedEntry& entry : entries) EXPECT_TRUE(map.emplace(entry.path, entry).second) << entry.path;
  return map;
}

// Everything below a directory, with the content of files and the targets of links.
std::vector<std::string> snapshot(const base::Path& root) {
  std::vector<std::string> lines;
  for (const auto& item : std::filesystem::recursive_directory_iterator(root)) {
    std::string line = item.path().native();
    if (item.is_symlink())
      line += " -> " + std::filesystem::read_symlink(item.path()).native();
    else if (item.is_regular_file())
      line += " = " + test::content_of(item.path());
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Result<std::vector<UnpackedEntry>> unpack_file(const base::Path& archive, const base::Path& prefix,
                                               const std::function<bool()>& keep_going, unsigned threads = 1) {
  std::ifstream file(archive, std::ios::binary);
  const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    return static_cast<std::size_t>(file.gcount());
  };
  Unpacking unpacking{archive.filename(), prefix, threads};
  unpacking.keep_going = keep_going;
  return unpack(read, unpacking);
}

class Unpack : public testing::Test {
 protected:
  Result<std::vector<UnpackedEntry>> unpack_members(const std::vector<Member>& members) {
    test::write_tar(m_archive, members);
    return unpack_file(m_archive, m_prefix, k_always);
  }

  Scratch m_scratch;
  base::Path m_archive = m_scratch / "sample-archive.tar";
  base::Path m_prefix = m_scratch.directory("staging/prefix");
};

struct Packing {
  const char* name;
  test::AddFilter add;
  friend std::ostream& operator<<(std::ostream& out, const Packing& row) { return out << row.name; }
};

class UnpackPacked : public Unpack, public testing::WithParamInterface<Packing> {};

TEST_P(UnpackPacked, puts_everything_below_the_prefix_and_records_it) {
  test::write_tar(m_archive,
                  {directory("top/"), directory("top/bin/"), file("top/bin/nvcc", "#!/bin/sh\n", 0755),
                   file("top/lib/libx.so.1.2", std::string(300'000, 'x')), link("top/lib/libx.so.1", "libx.so.1.2"),
                   file("top/LICENSE", "")},
                  GetParam().add);
  const auto entries = unpack_file(m_archive, m_prefix, k_always);
  ASSERT_TRUE(entries) << test::told(entries.error());
  auto map = by_path(*entries);
  ASSERT_EQ(map.size(), 6u);
  EXPECT_EQ(map["bin"].type, EntryType::directory);
  EXPECT_EQ(map["lib"].type, EntryType::directory) << "has no member of its own";
  EXPECT_EQ(map["bin/nvcc"].type, EntryType::file);
  EXPECT_EQ(map["bin/nvcc"].sha256, sha256_of("#!/bin/sh\n"));
  EXPECT_EQ(map["bin/nvcc"].size, 10u);
  EXPECT_EQ(map["lib/libx.so.1.2"].sha256, sha256_of(std::string(300'000, 'x')));
  EXPECT_EQ(map["lib/libx.so.1"].type, EntryType::link);
  EXPECT_EQ(map["lib/libx.so.1"].target, "libx.so.1.2");
  EXPECT_EQ(map["LICENSE"].sha256, sha256_of(""));
  EXPECT_EQ(test::content_of(m_prefix / "lib/libx.so.1"), std::string(300'000, 'x'));
  EXPECT_EQ(info_of(m_prefix / "bin/nvcc").st_mtime, 1'700'000'000);
  EXPECT_FALSE(base::path_exists(m_prefix / "top"));
}

INSTANTIATE_TEST_SUITE_P(Filters, UnpackPacked,
                         testing::Values(Packing{"xz", &::archive_write_add_filter_xz},
                                         Packing{"gzip", &::archive_write_add_filter_gzip},
                                         Packing{"zstd", &::archive_write_add_filter_zstd},
                                         Packing{"plain", &::archive_write_add_filter_none}),
                         [](const auto& row) { return row.param.name; });

struct Mode {
  const char* name;
  mode_t type;
  mode_t in_archive;
  mode_t umask;
  mode_t expected;
  friend std::ostream& operator<<(std::ostream& out, const Mode& row) { return out << row.name; }
};

class UnpackMode : public Unpack, public testing::WithParamInterface<Mode> {};

TEST_P(UnpackMode, ARC_01_is_masked_and_readable_by_all) {
  const mode_t before = ::umask(GetParam().umask);
  const auto entries = unpack_members({{.name = "top/x", .type = GetParam().type, .mode = GetParam().in_archive}});
  ::umask(before);
  ASSERT_TRUE(entries) << test::told(entries.error());
  EXPECT_EQ(mode_of(m_prefix / "x"), GetParam().expected);
  EXPECT_EQ(entries->front().mode, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, UnpackMode,
    testing::Values(Mode{"program", AE_IFREG, 0755, 022, 0755}, Mode{"setuid_and_setgid", AE_IFREG, 06755, 0, 0755},
                    Mode{"writable_by_all", AE_IFREG, 0666, 0, 0644}, Mode{"private", AE_IFREG, 0600, 022, 0644},
                    Mode{"private_program", AE_IFREG, 0700, 077, 0755}, Mode{"read_only", AE_IFREG, 0444, 022, 0444},
                    Mode{"nothing", AE_IFREG, 0, 022, 0444}, Mode{"strict_umask", AE_IFREG, 0644, 077, 0644},
                    Mode{"directory_read_only", AE_IFDIR, 0555, 022, 0755},
                    Mode{"directory_nothing", AE_IFDIR, 0, 022, 0755},
                    Mode{"directory_sticky", AE_IFDIR, 01777, 0, 0755},
                    Mode{"directory_strict_umask", AE_IFDIR, 0700, 077, 0755}),
    [](const auto& row) { return row.param.name; });

TEST_F(Unpack, writes_below_a_directory_that_the_archive_makes_read_only) {
  ASSERT_TRUE(unpack_members({directory("top/d", 0555), file("top/d/x"), directory("top/d", 0500)}));
  EXPECT_EQ(test::content_of(m_prefix / "d/x"), "text");
}

TEST_F(Unpack, hard_links_are_further_names_of_the_same_file) {
  const auto entries = unpack_members(
      {file("top/bin/a", "same", 0755), hard_link("top/b", "top/bin/a"), hard_link("./top//lib/c", "./top/b")});
  ASSERT_TRUE(entries) << test::told(entries.error());
  auto map = by_path(*entries);
  for (const char* name : {"bin/a", "b", "lib/c"}) {
    EXPECT_EQ(map[name].type, EntryType::file) << name;
    EXPECT_EQ(map[name].sha256, sha256_of("same")) << name;
    EXPECT_EQ(map[name].size, 4u) << name;
    EXPECT_EQ(map[name].mode, 0755u) << name;
    EXPECT_EQ(info_of(m_prefix / name).st_ino, info_of(m_prefix / "b").st_ino) << name;
  }
}

TEST_F(Unpack, hard_link_to_a_link_is_a_link) {
  const auto entries = unpack_members({file("top/x"), link("top/l", "x"), hard_link("top/m", "top/l")});
  ASSERT_TRUE(entries) << test::told(entries.error());
  EXPECT_EQ(std::filesystem::read_symlink(m_prefix / "m"), "x");
}

TEST_F(Unpack, holes_are_digested_as_zeros) {
  std::string content(1 << 20, '\0');
  content.replace(4096, 4, "data");
  std::string tail = content;
  tail.replace(content.size() - 4, 4, "tail");
  const auto entries =
      unpack_members({{.name = "top/hole_last", .content = content, .data = {{4096, 4096}}},
                      {.name = "top/hole_inside", .content = tail, .data = {{4096, 4096}, {(1 << 20) - 4096, 4096}}},
                      {.name = "top/all_hole", .content = std::string(100'000, '\0'), .data = {{100'000, 0}}}});
  ASSERT_TRUE(entries) << test::told(entries.error());
  auto map = by_path(*entries);
  EXPECT_EQ(map["hole_last"].sha256, sha256_of(content));
  EXPECT_EQ(map["hole_inside"].sha256, sha256_of(tail));
  EXPECT_EQ(map["all_hole"].sha256, sha256_of(std::string(100'000, '\0')));
  EXPECT_EQ(test::content_of(m_prefix / "hole_last"), content);
  EXPECT_EQ(test::content_of(m_prefix / "hole_inside"), tail);
  EXPECT_EQ(test::content_of(m_prefix / "all_hole"), std::string(100'000, '\0'));
  EXPECT_LT(info_of(m_prefix / "hole_inside").st_blocks * 512, 1 << 19);
}

TEST_F(Unpack, names_are_bytes_whatever_the_locale) {
  ASSERT_TRUE(unpack_members({file("top/\xc3\xa4 b", "x"), link("top/l", "\xc3\xa4 b")}));
  EXPECT_EQ(test::content_of(m_prefix / "l"), "x");
}

TEST_F(Unpack, dots_and_slashes_in_names_do_not_count) {
  const auto entries =
      unpack_members({directory("./"), directory("./top/"), file("./top//./a", "x"), file("top/b/./c", "y")});
  ASSERT_TRUE(entries) << test::told(entries.error());
  EXPECT_EQ(test::content_of(m_prefix / "a"), "x");
  EXPECT_EQ(test::content_of(m_prefix / "b/c"), "y");
}

TEST_F(Unpack, link_may_go_down_and_up_through_real_directories) {
  const auto entries = unpack_members(
      {link("top/bin/l", "../a/b/../../x"), directory("top/a"), directory("top/a/b"), file("top/x", "found")});
  ASSERT_TRUE(entries) << test::told(entries.error());
  EXPECT_EQ(test::content_of(m_prefix / "bin/l"), "found");
}

TEST_F(Unpack, ARC_03_destination_may_lie_behind_a_link) {
  std::filesystem::create_directory_symlink(m_scratch / "staging", m_scratch / "other_disk");
  test::write_tar(m_archive, {file("top/x", "here")});
  ASSERT_TRUE(unpack_file(m_archive, m_scratch / "other_disk/prefix", k_always));
  EXPECT_EQ(test::content_of(m_prefix / "x"), "here");
}

TEST_F(Unpack, leaves_the_working_directory_alone) {
  const auto before = std::filesystem::current_path();
  ASSERT_TRUE(unpack_members({file("top/x")}));
  EXPECT_FALSE(unpack_members({file("top/y"), file("top/../z")}));
  EXPECT_EQ(std::filesystem::current_path(), before);
}

struct Hostile {
  const char* name;
  std::vector<Member> members;
  const char* blamed;  // the member, as the message must show it

  friend std::ostream& operator<<(std::ostream& out, const Hostile& row) { return out << row.name; }
};

class UnpackHostile : public Unpack, public testing::WithParamInterface<Hostile> {};

TEST_P(UnpackHostile, is_refused_and_nothing_outside_is_touched) {
  m_scratch.directory("outside");
  m_scratch.file("outside/victim", "untouched");
  const auto before = snapshot(m_scratch / "outside");
  const auto entries = unpack_members(GetParam().members);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().kind, ErrorKind::integrity);
  EXPECT_NE(entries.error().message.find(GetParam().blamed), std::string::npos) << entries.error().message;
  EXPECT_NE(entries.error().message.find("sample-archive.tar"), std::string::npos) << entries.error().message;
  EXPECT_EQ(entries.error().message.find('\x1b'), std::string::npos);
  EXPECT_EQ(snapshot(m_scratch / "outside"), before);
  EXPECT_EQ(base::list_directory(m_scratch / "staging"), std::vector<std::string>{"prefix"});
}

INSTANTIATE_TEST_SUITE_P(
    ARC_01_names, UnpackHostile,
    testing::Values(Hostile{"parent", {file("../outside/victim")}, "../outside/victim"},
                    Hostile{"parent_below_top", {file("top/a"), file("top/../../outside/victim")}, "top/../../outside"},
                    Hostile{"harmless_parent", {file("top/a/../b")}, "top/a/../b"},
                    Hostile{"absolute", {file("/tmp/cudaenv-victim")}, "/tmp/cudaenv-victim"},
                    Hostile{"backslash", {file("top/..\\..\\x")}, "top/..\\..\\x"},
                    Hostile{"escape_code", {file("top/\x1b[31mred")}, "top/\\x1b[31mred"},
                    Hostile{"newline", {file("top/a\nb")}, "top/a\\x0ab"},
                    Hostile{"second_top", {file("top/a"), file("other/b")}, "other/b"},
                    Hostile{"top_with_same_beginning", {file("top/a"), file("top2/b")}, "top2/b"},
                    Hostile{"no_top", {file("a")}, "\"a\""},
                    Hostile{"top_is_a_link", {link("top", "../outside"), file("top/victim")}, "\"top\""},
                    Hostile{"parent_directory", {directory("top/../../outside/new")}, "top/../../outside/new"},
                    Hostile{"parent_link", {link("top/../../outside/new", "x")}, "top/../../outside/new"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    ARC_01_links, UnpackHostile,
    testing::Values(
        Hostile{"absolute_target", {link("top/l", "/etc/passwd")}, "top/l"},
        Hostile{"target_above", {link("top/l", "../outside/victim")}, "top/l"},
        Hostile{"target_above_from_below", {link("top/a/l", "../../../outside")}, "top/a/l"},
        Hostile{"target_back_through_top", {file("top/x"), link("top/l", "../top/x")}, "top/l"},
        Hostile{"file_through_link", {directory("top/d"), link("top/l", "d"), file("top/l/x")}, "top/l/x"},
        Hostile{"directory_through_link", {directory("top/d"), link("top/l", "d"), directory("top/l/x")}, "top/l/x"},
        Hostile{"directory_over_link", {directory("top/d"), link("top/l", "d"), directory("top/l")}, "top/l"},
        Hostile{"link_through_link", {directory("top/d"), link("top/l", "d"), link("top/l/x", "y")}, "top/l/x"},
        Hostile{"hard_link_through_link",
                {file("top/d/f"), link("top/l", "d"), hard_link("top/l/x", "top/d/f")},
                "top/l/x"},
        Hostile{"out_by_two_links",
                {directory("top/a/b"), link("top/a/b/up", "../.."), link("top/l", "a/b/up/../outside")},
                "the link l"},
        Hostile{"up_from_what_is_not_there", {link("top/l", "nothing/../x"), file("top/x")}, "the link l"},
        Hostile{"hard_link_absolute", {hard_link("top/x", "/etc/passwd")}, "/etc/passwd"},
        Hostile{"hard_link_parent", {hard_link("top/x", "top/../../outside/victim")}, "top/../../outside/victim"},
        Hostile{"hard_link_other_top", {file("top/a"), hard_link("top/x", "outside/victim")}, "outside/victim"},
        Hostile{"hard_link_before_its_file", {hard_link("top/x", "top/y"), file("top/y")}, "top/x"},
        Hostile{"hard_link_to_itself", {hard_link("top/x", "top/x")}, "top/x"},
        Hostile{"hard_link_to_a_directory", {directory("top/d"), hard_link("top/x", "top/d")}, "top/x"},
        Hostile{"hard_link_to_the_top", {directory("top"), hard_link("top/x", "top")}, "top/x"},
        Hostile{
            "hard_link_through_a_link", {file("top/d/f"), link("top/l", "d"), hard_link("top/x", "top/l/f")}, "top/x"},
        Hostile{"hard_link_takes_a_link_too_far_up",
                {link("top/a/b/l", "../../x"), hard_link("top/m", "top/a/b/l")},
                "top/m"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    ARC_01_types, UnpackHostile,
    testing::Values(
        Hostile{"fifo", {{.name = "top/pipe", .type = AE_IFIFO}}, "top/pipe"},
        Hostile{"character_device", {{.name = "top/null", .type = AE_IFCHR}}, "top/null"},
        Hostile{"block_device", {{.name = "top/disk", .type = AE_IFBLK}}, "top/disk"},
        Hostile{"file_twice", {file("top/x"), file("top/x")}, "top/x"},
        Hostile{"file_twice_by_other_writing", {file("top/x"), file("./top//x")}, "./top//x"},
        Hostile{"file_then_link", {file("top/x"), link("top/x", "y")}, "top/x"},
        Hostile{"link_then_file", {link("top/x", "y"), file("top/x")}, "top/x"},
        Hostile{"file_then_directory", {file("top/x"), directory("top/x")}, "top/x"},
        Hostile{"directory_then_file", {directory("top/x"), file("top/x")}, "top/x"},
        Hostile{"directory_then_link", {directory("top/x"), link("top/x", "y")}, "top/x"},
        Hostile{"file_as_directory", {file("top/x"), file("top/x/y")}, "top/x/y"},
        Hostile{"hard_link_twice", {file("top/a"), hard_link("top/x", "top/a"), hard_link("top/x", "top/a")}, "top/x"},
        Hostile{"nothing_but_the_top", {directory("top/")}, "holds nothing"}),
    [](const auto& row) { return row.param.name; });

struct Broken {
  const char* name;
  std::string_view content;
  friend std::ostream& operator<<(std::ostream& out, const Broken& row) { return out << row.name; }
};

class UnpackBroken : public Unpack, public testing::WithParamInterface<Broken> {};

TEST_P(UnpackBroken, DL_01_is_refused_as_an_archive) {
  m_scratch.file("sample-archive.tar", GetParam().content);
  const auto entries = unpack_file(m_archive, m_prefix, k_always);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().kind, ErrorKind::integrity);
  EXPECT_NE(entries.error().message.find("sample-archive.tar"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Rows, UnpackBroken,
                         testing::Values(Broken{"empty", ""}, Broken{"web_page", "<!DOCTYPE html><html>404</html>"},
                                         Broken{"xz_header_alone",
                                                "\xfd"
                                                "7zXZ"},
                                         Broken{"zip",
                                                "PK\x03\x04"
                                                "0000000000"},
                                         Broken{"rubbish", "\x01\x02\x03\x04\x05\x06\x07\x08"}),
                         [](const auto& row) { return row.param.name; });

TEST_F(Unpack, archive_cut_anywhere_inside_its_data_is_broken) {
  std::string noise;
  for (unsigned i = 0, x = 1; i < 20'000; ++i) noise += static_cast<char>((x = x * 1103515245u + 12345u) >> 24);
  test::write_tar(m_archive, {file("top/x", noise), file("top/y", noise)}, &::archive_write_add_filter_xz);
  const std::string whole = test::content_of(m_archive);
  int number = 0;
  for (std::size_t size = 0; size + 1000 < whole.size(); size += 997) {
    m_scratch.file("sample-archive.tar", whole.substr(0, size));
    const auto entries = unpack_file(m_archive, m_scratch.directory("cut" + std::to_string(number++)), k_always);
    ASSERT_FALSE(entries) << size;
    EXPECT_EQ(entries.error().kind, ErrorKind::integrity) << size;
  }
}

TEST_F(Unpack, error_of_the_bytes_is_returned_as_it_is) {
  test::write_tar(m_archive, {file("top/x", std::string(1 << 20, 'x'))}, &::archive_write_add_filter_xz);
  const std::string whole = test::content_of(m_archive);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, whole.size() / 2}) {
    std::string_view left = std::string_view(whole).substr(0, size);
    const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
      if (left.empty()) return fail(ErrorKind::network, "the link is down");
      const std::size_t count = left.copy(buffer.data(), buffer.size());
      left.remove_prefix(count);
      return count;
    };
    const auto entries = unpack(read, {"a.tar.xz", m_scratch.directory("part" + std::to_string(size))});
    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().kind, ErrorKind::network);
    EXPECT_EQ(entries.error().message, "the link is down");
  }
}

TEST_F(Unpack, what_is_left_out_is_not_written) {
  test::write_tar(m_archive,
                  {file("top/lib/libx.a", "static"), link("top/lib/liby.a", "libx.a"), file("top/lib/libx.so")});
  std::ifstream bytes(m_archive, std::ios::binary);
  const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
    bytes.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    return static_cast<std::size_t>(bytes.gcount());
  };
  Unpacking unpacking{"a.tar", m_prefix};
  unpacking.leaves_out = [](std::string_view path) { return path.ends_with(".a"); };
  const auto entries = unpack(read, unpacking);
  ASSERT_TRUE(entries) << test::told(entries.error());
  EXPECT_EQ(by_path(*entries).count("lib/libx.so"), 1u);
  EXPECT_EQ(entries->size(), 2u);
  EXPECT_EQ(*base::list_directory(m_prefix / "lib"), std::vector<std::string>{"libx.so"});
}

TEST_F(Unpack, destination_that_is_not_there_is_a_matter_of_files) {
  test::write_tar(m_archive, {file("top/x")});
  EXPECT_EQ(unpack_file(m_archive, m_scratch / "absent", k_always).error().kind, ErrorKind::filesystem);
}

TEST_F(Unpack, ARC_03_what_the_disk_refuses_names_the_path) {
  test::write_tar(m_archive, {file("top/lib/large", std::string(1 << 20, 'x'))});
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 1 << 16, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto entries = unpack_file(m_archive, m_prefix, k_always);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().kind, ErrorKind::filesystem);
  EXPECT_NE(entries.error().message.find((m_prefix / "lib/large").native()), std::string::npos)
      << entries.error().message;
}

TEST_F(Unpack, DL_11_can_be_interrupted_between_blocks) {
  test::write_tar(m_archive, {file("top/a", std::string(4 << 20, 'x')), file("top/b")});
  int left = 3;
  const auto entries = unpack_file(m_archive, m_prefix, [&left] { return left-- > 0; });
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(left, -1);
}

TEST_F(Unpack, DL_11_can_be_interrupted_in_a_hole) {
  test::write_tar(m_archive, {{.name = "top/a", .content = std::string(4 << 20, '\0'), .data = {{4 << 20, 0}}}});
  int left = 10;
  const auto entries = unpack_file(m_archive, m_prefix, [&left] { return left-- > 0; });
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace cudaenv::redist
