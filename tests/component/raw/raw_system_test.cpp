// SPDX-License-Identifier: Apache-2.0
#include "raw/raw_system.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "component/redist/scratch.hpp"
#include "raw/error_text.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::raw {
namespace {

// --- Against libc's ---

class RawSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::make_directories(at("directory/deep")));
    ASSERT_TRUE(base::write_file(at("file"), "content"));
    ASSERT_TRUE(base::write_file(at("secret"), "content", 0));
    ASSERT_TRUE(base::make_link("file", at("link")));
    ASSERT_TRUE(base::make_link("directory", at("to_directory")));
    ASSERT_TRUE(base::make_link("nowhere", at("dangling")));
    ASSERT_TRUE(base::make_link("circle", at("circle")));
    ASSERT_TRUE(base::make_link(at("to_directory/deep/../../link"), at("directory/deep/long_way")));
    ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
    ASSERT_EQ(::chdir(at("directory").c_str()), 0);
  }
  void TearDown() override { ASSERT_EQ(::chdir(m_former.c_str()), 0); }

  base::Path at(std::string_view name) const { return m_scratch / name; }
  std::vector<base::Path> paths() const {
    std::vector<base::Path> all;
    for (const char* name :
         {"file", "secret", "link", "to_directory", "dangling", "circle", "fifo", "directory", "none", "file/below",
          "to_directory/deep/long_way", "directory/../link", "directory/deep/"})
      all.push_back(at(name));
    all.insert(all.end(), {"deep", ".", "..", "deep/./../../link", "/", "//tmp", "", std::string(5000, 'x')});
    return all;
  }

  test::Scratch m_scratch;
  base::Path m_former = std::filesystem::current_path();
  store::PosixSystem m_posix;
  RawSystem m_raw{environ, Trust::caller};
};

TEST_F(RawSystemTest, reads_like_libc) {
  for (const base::Path& path : paths()) {
    char expected[64] = {};
    char found[64] = {};
    const core::ReadOutcome a = m_posix.read(path.c_str(), expected, sizeof expected);
    const core::ReadOutcome b = m_raw.read(path.c_str(), found, sizeof found);
    EXPECT_EQ(std::tie(a.status, a.size, a.system_error), std::tie(b.status, b.size, b.system_error)) << path;
    EXPECT_EQ(std::memcmp(expected, found, sizeof found), 0) << path;
    EXPECT_EQ(m_posix.read_once(path.c_str(), expected, 4), m_raw.read_once(path.c_str(), found, 4)) << path;
    EXPECT_EQ(m_posix.read_own(path.c_str(), expected, 4), m_raw.read_own(path.c_str(), found, 4)) << path;
  }
}

TEST_F(RawSystemTest, sees_what_libc_sees) {
  for (const base::Path& path : paths()) {
    char expected[64] = {};
    char found[64] = {};
    EXPECT_EQ(m_posix.kind(path.c_str()), m_raw.kind(path.c_str())) << path;
    EXPECT_EQ(m_posix.exists(path.c_str()), m_raw.exists(path.c_str())) << path;
    EXPECT_EQ(m_posix.is_current_directory(path.c_str()), m_raw.is_current_directory(path.c_str())) << path;
    EXPECT_EQ(m_posix.is_own_directory(path.c_str()), m_raw.is_own_directory(path.c_str())) << path;
    EXPECT_EQ(m_posix.is_private_directory(path.c_str()), m_raw.is_private_directory(path.c_str())) << path;
    EXPECT_EQ(m_posix.link_text(path.c_str(), expected, 64), m_raw.link_text(path.c_str(), found, 64)) << path;
    EXPECT_EQ(m_posix.mount_of(path.c_str()), m_raw.mount_of(path.c_str())) << path;
    EXPECT_EQ(core::Fingerprint().add(m_posix.stamp(path.c_str())).value(),
              core::Fingerprint().add(m_raw.stamp(path.c_str())).value())
        << path;
  }
  EXPECT_EQ(m_posix.user(), m_raw.user());
  EXPECT_NEAR(static_cast<double>(m_posix.now()), static_cast<double>(m_raw.now()), 1);
}

TEST_F(RawSystemTest, lists_what_libc_lists) {
  for (const base::Path& path : paths()) {
    std::set<std::string> expected;
    std::set<std::string> found;
    m_posix.for_each_entry(path.c_str(), [&](std::string_view name) { expected.emplace(name); });
    m_raw.for_each_entry(path.c_str(), [&](std::string_view name) { found.emplace(name); });
    EXPECT_EQ(expected, found) << path;
  }
}

TEST_F(RawSystemTest, real_path_is_libcs) {
  for (const base::Path& path : paths()) {
    char expected[PATH_MAX];
    if (::stat(path.c_str(), std::make_unique<struct stat>().get()) != 0) continue;
    ASSERT_NE(::realpath(path.c_str(), expected), nullptr) << path;
    core::PathText found;
    EXPECT_TRUE(store::real_path<SystemCalls>(path.native(), found)) << path;
    EXPECT_EQ(found.view(), expected) << path;
  }
}

TEST_F(RawSystemTest, real_path_ends) {
  core::PathText found;
  EXPECT_FALSE(store::real_path<SystemCalls>(at("circle").native(), found));
  EXPECT_FALSE(store::real_path<SystemCalls>(std::string(5000, '/'), found));
}

// --- The working directory ---

TEST_F(RawSystemTest, working_directory_is_libcs) {
  char expected[4096];
  char found[4096];
  EXPECT_TRUE(m_posix.current_directory(expected, sizeof expected));
  EXPECT_TRUE(m_raw.current_directory(found, sizeof found));
  EXPECT_STREQ(expected, found);
}

TEST_F(RawSystemTest, removed_working_directory_has_no_path) {
  char found[4096];
  ASSERT_EQ(::rmdir(at("directory/deep").c_str()), -1);  // not empty
  ASSERT_TRUE(base::make_directories(at("gone")));
  ASSERT_EQ(::chdir(at("gone").c_str()), 0);
  ASSERT_EQ(::rmdir(at("gone").c_str()), 0);
  EXPECT_FALSE(m_posix.current_directory(found, sizeof found));
  EXPECT_FALSE(m_raw.current_directory(found, sizeof found));
}

TEST_F(RawSystemTest, of_a_directory_too_deep_the_nearest_above_is_named) {
  const std::string part(200, 'd');
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(::mkdir(part.c_str(), 0700), 0);
    ASSERT_EQ(::chdir(part.c_str()), 0);
  }
  char found[4096];
  ASSERT_TRUE(m_raw.current_directory(found, sizeof found));
  const std::string_view path = found;
  const std::string start = "/directory/";
  EXPECT_NE(path.find(start + part), std::string_view::npos);
  EXPECT_GT(path.size(), 4096 - 2 * part.size());
  EXPECT_TRUE(m_raw.exists(found));
}

// --- Environment and trust ---

TEST(RawEnvironment, the_first_of_a_name_counts) {
  const char* entries[] = {"A", "AB=1", "=x", "A=first", "A=second", "EMPTY=", nullptr};
  const RawSystem system(const_cast<char* const*>(entries), Trust::caller);
  EXPECT_STREQ(system.variable("A"), "first");
  EXPECT_STREQ(system.variable("AB"), "1");
  EXPECT_STREQ(system.variable("EMPTY"), "");
  EXPECT_EQ(system.variable("B"), nullptr);
}

TEST(RawEnvironment, may_be_none) {
  EXPECT_EQ(RawSystem(nullptr, Trust::caller).variable("PATH"), nullptr);
  EXPECT_EQ(RawSystem(std::array<char*, 1>{nullptr}.data(), Trust::caller).variable("PATH"), nullptr);
}

TEST(RawEnvironment, who_is_not_trusted_chooses_nothing) {
  const RawSystem system(environ, Trust::nobody);
  char found[4096];
  EXPECT_FALSE(system.is_trusted());
  EXPECT_EQ(system.variable("PATH"), nullptr);
  EXPECT_FALSE(system.is_current_directory("."));
  EXPECT_FALSE(system.current_directory(found, sizeof found));
}

// --- Words ---

TEST(ErrorText, words_are_libcs) {
  for (const ErrorWords& row : k_error_words) EXPECT_STREQ(row.words, std::strerror(row.number));
  for (const int error : {0, ENOENT, 500}) EXPECT_NE(error_text(error).size(), 0U);
  EXPECT_EQ(error_text(500).view(), std::strerror(500));
}

TEST(ErrorText, has_a_row_for_each_number_once) {
  std::set<int> numbers;
  for (const ErrorWords& row : k_error_words) EXPECT_TRUE(numbers.insert(row.number).second) << row.words;
}

}  // namespace
}  // namespace cudaenv::raw
