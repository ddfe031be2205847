// SPDX-License-Identifier: Apache-2.0
#include "redist/xz_decoder.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "scratch.hpp"

namespace cudaenv::redist {
namespace {

class Xz : public testing::Test {
 protected:
  // Packs with the xz program; skips the test where there is none.
  void pack(const std::string& options) {
    if (std::system("xz --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no xz program";
    for (unsigned i = 0, x = 1; i < 6'000'000; ++i)
      m_content += static_cast<char>((x = x * 1103515245u + 12345u) >> 29);
    m_scratch.file("data", m_content);
    ASSERT_EQ(std::system(fmt::format("xz {} -c '{}' >'{}'", options, (m_scratch / "data").native(),
                                      (m_scratch / "data.xz").native())
                              .c_str()),
              0);
    m_packed = test::content_of(m_scratch / "data.xz");
  }

  Result<std::string> decode(unsigned threads, std::size_t most = ~std::size_t{0}) {
    std::string_view left = std::string_view(m_packed).substr(0, most);
    const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
      const std::size_t count = left.copy(buffer.data(), std::min<std::size_t>(buffer.size(), 10'007));
      left.remove_prefix(count);
      return count;
    };
    CUDAENV_TRY(decoder, XzDecoder::open(read, threads));
    std::string out;
    while (true) {
      CUDAENV_TRY(bytes, decoder.next());
      if (bytes.empty()) return out;
      out += bytes;
    }
  }

  test::Scratch m_scratch;
  std::string m_content;
  std::string m_packed;
};

TEST_F(Xz, one_block_by_any_number_of_threads) {
  pack("-1 -T1");
  for (const unsigned threads : {0u, 1u, 4u}) EXPECT_EQ(decode(threads), m_content) << threads;
}

TEST_F(Xz, several_blocks_by_any_number_of_threads) {
  pack("-1 -T2 --block-size=1MiB");
  for (const unsigned threads : {0u, 1u, 2u, 4u}) EXPECT_EQ(decode(threads), m_content) << threads;
}

TEST_F(Xz, several_streams) {
  pack("-1 -T1");
  m_packed += m_packed;
  EXPECT_EQ(decode(2), m_content + m_content);
}

TEST_F(Xz, DL_01_what_is_cut_or_damaged_is_no_archive) {
  pack("-1 -T2 --block-size=1MiB");
  for (const unsigned threads : {1u, 2u}) {
    for (const std::size_t size : {std::size_t{3}, std::size_t{100}, m_packed.size() / 2, m_packed.size() - 1}) {
      const auto decoded = decode(threads, size);
      ASSERT_FALSE(decoded) << size;
      EXPECT_EQ(decoded.error().kind, ErrorKind::integrity) << size;
    }
    m_packed[m_packed.size() / 2] = static_cast<char>(m_packed[m_packed.size() / 2] ^ 1);
    const auto decoded = decode(threads);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind, ErrorKind::integrity);
    m_packed[m_packed.size() / 2] = static_cast<char>(m_packed[m_packed.size() / 2] ^ 1);
  }
}

TEST_F(Xz, is_told_by_its_first_bytes) {
  pack("-1");
  EXPECT_TRUE(XzDecoder::fits(m_packed));
  EXPECT_FALSE(XzDecoder::fits(m_content));
  EXPECT_FALSE(XzDecoder::fits(""));
}

}  // namespace
}  // namespace cudaenv::redist
