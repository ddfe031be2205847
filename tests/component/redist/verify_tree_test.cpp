// SPDX-License-Identifier: Apache-2.0
#include "redist/verify_tree.hpp"

#include <atomic>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "component/redist/scratch.hpp"
#include "redist/digest.hpp"

// Each kind of damage is in tests/cli/verify_test.py.

namespace cudaenv::redist {
namespace {

class VerifyTree : public testing::Test {
 protected:
  void SetUp() override {
    m_scratch.directory("bin");
    for (int i = 0; i < 300; ++i) add("bin/" + std::to_string(i), std::string(static_cast<std::size_t>(i) * 100, 'x'));
    add("large", std::string((3 << 20) + 1, 'l'));  // more than one block
  }

  void add(const std::string& path, const std::string& content) {
    m_scratch.file(path, content);
    ASSERT_EQ(::chmod((m_scratch / path).c_str(), 0644), 0);
    m_receipt.files.push_back({path, "", 0644, content.size(), sha256_of(content), ""});
  }

  Result<TreeReport> compare(unsigned threads) const {
    return compare_with_receipt(
        m_scratch.path(), m_receipt, threads, [] { return true; }, [](std::uint64_t, std::uint64_t) {});
  }

  test::Scratch m_scratch;
  store::Receipt m_receipt;
};

TEST_F(VerifyTree, any_number_of_threads_finds_the_same) {
  m_scratch.file("bin/17", std::string(1700, 'y'));
  m_scratch.file("large", std::string(3 << 20, 'l') + 'm');
  ASSERT_EQ(::chmod((m_scratch / "bin/17").c_str(), 0600), 0);
  m_scratch.file("extra", "");
  for (const unsigned threads : {0u, 1u, 2u, 16u, 1000u}) {
    const auto report = compare(threads);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->faulty.size(), 3u);
    EXPECT_EQ(report->faulty_files(), 2u);
    EXPECT_EQ(report->faulty[0].path, "bin/17");
    EXPECT_EQ(report->faulty[0].fault, FileFault::mode);
    EXPECT_EQ(report->faulty[1].path, "bin/17");
    EXPECT_EQ(report->faulty[1].fault, FileFault::content);
    EXPECT_EQ(report->faulty[2].path, "large");
    EXPECT_EQ(report->extra, std::vector<std::string>{"extra"});
    EXPECT_EQ(report->file_count, 301u);
    EXPECT_EQ(report->hashed, 300 * 299 / 2 * 100 + (3 << 20) + 1);
  }
}

TEST_F(VerifyTree, ends_when_it_is_told_to) {
  for (int allowed = 0; allowed < 400; allowed += 13) {
    std::atomic<int> left = allowed;
    const auto report = compare_with_receipt(
        m_scratch.path(), m_receipt, 4, [&] { return left-- > 0; }, [](std::uint64_t, std::uint64_t) {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::interrupted);
  }
}

TEST_F(VerifyTree, a_receipt_cannot_lead_out_of_the_tree) {
  const base::Path outside = m_scratch.path().parent_path() / (m_scratch.path().filename().native() + "-outside");
  ASSERT_TRUE(base::write_file(outside, "x"));
  m_receipt.files.clear();
  for (const std::string& path : {"../" + outside.filename().native(), outside.native()})
    m_receipt.files.push_back({path, "", 0644, 1, sha256_of("x"), ""});
  const auto report = compare(2);
  std::filesystem::remove(outside);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->faulty.size(), 2u);
  EXPECT_EQ(report->hashed, 0u);
}

TEST_F(VerifyTree, an_empty_receipt_and_a_tree_that_is_gone) {
  const auto nothing = compare_with_receipt(
      m_scratch / "nowhere", {}, 2, [] { return true; }, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->is_whole());
  const auto all = compare_with_receipt(
      m_scratch / "nowhere", m_receipt, 2, [] { return true; }, [](std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->faulty_files(), 301u);
  EXPECT_EQ(all->faulty.front().fault, FileFault::missing);
}

}  // namespace
}  // namespace cudaenv::redist
