// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <sys/stat.h>
#include <unistd.h>

#include "redist/location.hpp"
#include "redist/transport.hpp"
#include "scratch.hpp"

namespace cudaenv::redist {
namespace {

class DirectoryTransportTest : public testing::Test {
 protected:
  std::unique_ptr<Transport> transport(TransportOptions options = {}) const {
    return open_transport(*parse_location("file://" + m_mirror.path().native(), PlainHttp::on_loopback, "/"),
                          std::move(options));
  }
  test::Scratch m_mirror;
  base::Path m_directory = m_mirror.directory("d");
};

TEST_F(DirectoryTransportTest, text_is_the_content) {
  m_mirror.file("d/file", "content");
  EXPECT_EQ(transport()->text("d/file", 7), "content");
}

TEST_F(DirectoryTransportTest, text_that_is_too_large_is_refused) {
  m_mirror.file("d/file", "content");
  const auto text = transport()->text("d/file", 6);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::integrity);
}

TEST_F(DirectoryTransportTest, archive_is_opened_where_it_lies) {
  m_mirror.file("d/file", "content");
  const auto file = transport()->open("d/file", 7);
  ASSERT_TRUE(file);
  ASSERT_TRUE(*file);
  std::array<char, 10> bytes{};
  EXPECT_EQ(::read(***file, bytes.data(), bytes.size()), 7);
}

TEST_F(DirectoryTransportTest, DL_01_size_that_differs_is_refused_before_any_byte) {
  m_mirror.file("d/file", "content");
  for (const std::uint64_t size : {0u, 6u, 8u}) {
    const auto file = transport()->open("d/file", size);
    ASSERT_FALSE(file) << size;
    EXPECT_EQ(file.error().kind, ErrorKind::integrity);
    EXPECT_NE(file.error().message.find((m_directory / "file").native()), std::string::npos);
  }
}

TEST_F(DirectoryTransportTest, absent_file_is_named) {
  for (const char* name : {"absent", "absent/file", "d/absent"}) {
    const auto text = transport()->text(name, 10);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().kind, ErrorKind::not_found);
    EXPECT_NE(text.error().message.find((m_mirror / name).native()), std::string::npos);
  }
}

TEST_F(DirectoryTransportTest, what_is_no_file_is_refused_and_does_not_block) {
  ASSERT_EQ(::mkfifo((m_directory / "file").c_str(), 0600), 0);
  EXPECT_EQ(transport()->text("d/file", 10).error().kind, ErrorKind::filesystem);
  EXPECT_EQ(transport()->text("d", 10).error().kind, ErrorKind::filesystem);
}

TEST_F(DirectoryTransportTest, index_lists_the_directory) {
  m_mirror.file("redistrib_12.4.1.json", "{}");
  EXPECT_EQ(transport()->index(), (std::vector<std::string>{"d", "redistrib_12.4.1.json"}));
}

TEST_F(DirectoryTransportTest, index_of_an_absent_directory_names_it) {
  const auto location = parse_location((m_mirror / "absent").native(), PlainHttp::on_loopback, "/");
  const auto index = open_transport(*location)->index();
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().kind, ErrorKind::not_found);
  EXPECT_NE(index.error().message.find((m_mirror / "absent").native()), std::string::npos);
}

TEST_F(DirectoryTransportTest, DL_11_can_be_interrupted) {
  m_mirror.file("d/file", std::string(3 << 20, 'x'));
  TransportOptions options;
  options.keep_going = [] { return false; };
  EXPECT_EQ(transport(options)->text("d/file", 9 << 20).error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace cudaenv::redist
