// SPDX-License-Identifier: Apache-2.0
#include "store/receipt.hpp"

#include "component/redist/scratch.hpp"

namespace cudaenv::store {
namespace {

Receipt sample() {
  Receipt receipt;
  receipt.release = {12, 8, 1};
  receipt.platform = "linux-x86_64";
  receipt.profile = "default";
  receipt.with = {"nsight_compute"};
  receipt.without = {"cuda_gdb", "libnpp"};
  receipt.source = "https://example.com/redist/";
  receipt.manifest_sha256 = std::string(64, 'a');
  receipt.installed = "2026-01-31T12:00:00Z";
  receipt.components = {{"cuda_nvcc", "12.8.93", "CUDA Toolkit", std::string(64, 'b'), "cuda_nvcc/x.tar.xz",
                         std::string(64, 'c'), 5'000'000'000}};
  receipt.files = {{"bin/nvcc", "cuda_nvcc", 0755, 7, std::string(64, 'd'), ""},
                   {"lib64", "", 0, 0, "", "lib"},
                   {"version.json", "", 0644, 0, std::string(64, 'e'), ""}};
  return receipt;
}

class ReceiptFileTest : public testing::Test {
 protected:
  Result<Receipt> read(std::string_view text) {
    m_scratch.file("receipt.json", text);
    return read_receipt(m_scratch.path());
  }
  test::Scratch m_scratch;
};

TEST_F(ReceiptFileTest, reads_back_what_was_written) {
  const std::string text = to_json(sample());
  const auto receipt = read(text);
  ASSERT_TRUE(receipt) << receipt.error().message;
  EXPECT_EQ(to_json(*receipt), text);
  EXPECT_EQ(receipt->release, (core::Version{12, 8, 1}));
  EXPECT_EQ(receipt->without, (std::vector<std::string>{"cuda_gdb", "libnpp"}));
  ASSERT_EQ(receipt->components.size(), 1u);
  EXPECT_EQ(receipt->components[0].archive_size, 5'000'000'000u);
  ASSERT_EQ(receipt->files.size(), 3u);
  EXPECT_EQ(receipt->files[0].mode, 0755u);
  EXPECT_EQ(receipt->files[0].sha256, std::string(64, 'd'));
  EXPECT_EQ(receipt->files[1].target, "lib");
  EXPECT_EQ(receipt->files[1].component, "");
  EXPECT_TRUE(receipt->has_component("cuda_nvcc"));
  EXPECT_FALSE(receipt->has_component("cuda_gdb"));
}

TEST_F(ReceiptFileTest, tells_the_components_of_other_products) {
  Receipt with_product = sample();
  EXPECT_EQ(to_json(with_product).find("product"), std::string::npos);
  ReceiptComponent cudnn;
  cudnn.name = "libcutensor";
  cudnn.version = "2.0.2.5";
  cudnn.product = "cutensor";
  cudnn.product_version = "2.0.2.1";
  cudnn.product_manifest_sha256 = std::string(64, 'f');
  cudnn.product_source = "https://example.com/cutensor/redist/";
  cudnn.lib_directory = "12";
  with_product.components.push_back(cudnn);
  const std::string text = to_json(with_product);
  const auto receipt = read(text);
  ASSERT_TRUE(receipt) << receipt.error().message;
  EXPECT_EQ(to_json(*receipt), text);
  const ReceiptComponent* found = receipt->find_product("cutensor");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "libcutensor");
  EXPECT_EQ(found->product_version, "2.0.2.1");
  EXPECT_EQ(found->product_manifest_sha256, std::string(64, 'f'));
  EXPECT_EQ(found->product_source, "https://example.com/cutensor/redist/");
  EXPECT_EQ(found->lib_directory, "12");
  EXPECT_EQ(receipt->find_product("cudnn"), nullptr);
  EXPECT_EQ(receipt->find_product(""), nullptr);
}

TEST_F(ReceiptFileTest, absent_one_is_of_its_own_kind) {
  const auto receipt = read_receipt(m_scratch.path());
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().kind, ErrorKind::not_found);
}

TEST_F(ReceiptFileTest, broken_one_is_told_with_its_path) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"schema": 1})", R"({"schema": 1, "release": "12.8"})",
                           R"({"schema": 2, "release": "12.8.1"})", R"({"schema": "1", "release": "12.8.1"})",
                           R"({"schema": 1, "release": "../12.8.1"})"}) {
    const auto receipt = read(text);
    ASSERT_FALSE(receipt) << text;
    EXPECT_EQ(receipt.error().kind, ErrorKind::integrity) << text;
    EXPECT_NE(receipt.error().message.find((m_scratch / "receipt.json").native()), std::string::npos);
  }
}

TEST_F(ReceiptFileTest, cut_one_is_never_taken_for_whole) {
  std::string text = to_json(sample());
  text.pop_back();  // the line end
  for (std::size_t size = 0; size < text.size(); ++size) ASSERT_FALSE(read(text.substr(0, size))) << size;
}

TEST_F(ReceiptFileTest, strange_members_are_passed_over) {
  const auto receipt = read(
      R"({"schema": 1, "release": "12.8.1", "with": [1, "a"], 
         "files": [7, {"size": -1, "mode": "rwx"}], "components": {}})");
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->with, std::vector<std::string>{"a"});
  ASSERT_EQ(receipt->files.size(), 2u);
  EXPECT_EQ(receipt->files[1].size, 0u);
  EXPECT_TRUE(receipt->components.empty());
}

TEST_F(ReceiptFileTest, directory_in_its_place_is_an_error_and_not_absence) {
  m_scratch.directory("receipt.json");
  const auto receipt = read_receipt(m_scratch.path());
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().kind, ErrorKind::filesystem);
}

}  // namespace
}  // namespace cudaenv::store
