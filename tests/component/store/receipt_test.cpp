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
  cudnn.archive = "libcutensor/linux-x86_64/x.tar.xz";
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
         "files": [{"path": "a", "size": -1, "mode": "rwx"}], "components": {}})");
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->with, std::vector<std::string>{"a"});
  ASSERT_EQ(receipt->files.size(), 1u);
  EXPECT_EQ(receipt->files[0].size, 0u);
  EXPECT_EQ(receipt->files[0].mode, 0u);
  EXPECT_TRUE(receipt->components.empty());
}

TEST_F(ReceiptFileTest, directory_in_its_place_is_an_error_and_not_absence) {
  m_scratch.directory("receipt.json");
  const auto receipt = read_receipt(m_scratch.path());
  ASSERT_FALSE(receipt);
  EXPECT_EQ(receipt.error().kind, ErrorKind::filesystem);
}

TEST_F(ReceiptFileTest, members_that_are_no_files_or_components_are_refused) {
  for (const char* list : {R"("files": [7])", R"("files": [{}])", R"("components": ["a"])", R"("components": [{}])"})
    EXPECT_FALSE(read(R"({"schema": 1, "release": "12.8.1", )" + std::string(list) + "}")) << list;
}

// --- Names that would lead somewhere else ---

TEST_F(ReceiptFileTest, hint_is_to_install_the_release_anew) {
  const base::Path toolkit = m_scratch.directory("12.8.1");
  for (const char* text : {"{}", R"({"schema": 1, "release": "12.8.1", "components": [{"name": "../x"}]})"}) {
    ASSERT_TRUE(base::write_file(toolkit / "receipt.json", text));
    const auto receipt = read_receipt(toolkit);
    ASSERT_FALSE(receipt);
    EXPECT_NE(receipt.error().message.find((toolkit / "receipt.json").native()), std::string::npos);
    EXPECT_EQ(receipt.error().hint, "cudaenv install 12.8.1 --force");
    EXPECT_EQ(read(text).error().hint, "") << "the directory of no release";
  }
}

class ReceiptNames : public testing::Test {
 protected:
  // Refused for `what`, and said so by name.
  static void refuses(const Receipt& receipt, std::string_view what) {
    const auto parsed = parse_receipt(to_json(receipt), "/r/receipt.json");
    ASSERT_FALSE(parsed) << to_json(receipt);
    EXPECT_EQ(parsed.error().kind, ErrorKind::integrity);
    EXPECT_TRUE(parsed.error().message.starts_with("/r/receipt.json is not usable: ")) << parsed.error().message;
    EXPECT_NE(parsed.error().message.find(what), std::string::npos) << parsed.error().message;
  }
  static void takes(const Receipt& receipt) {
    const auto parsed = parse_receipt(to_json(receipt), "/r/receipt.json");
    EXPECT_TRUE(parsed) << parsed.error().message;
  }
  // A receipt with one more file or link.
  static Receipt with(const std::string& path, const std::string& target = {}) {
    Receipt receipt = sample();
    receipt.files.push_back({path, "", target.empty() ? mode_t{0644} : mode_t{0}, 0, "", target});
    return receipt;
  }
};

const std::vector<std::string> k_no_names = {
    "", ".", "..", ".hidden", "/x", "a/b", "../x", "a/../../x", "a b", "a\n", "a\\b", "a:b", std::string(200, 'a')};

TEST_F(ReceiptNames, of_components) {
  for (const std::string& name : k_no_names) {
    Receipt receipt = sample();
    receipt.components[0].name = name;
    refuses(receipt, "has the name \"");
  }
}

TEST_F(ReceiptNames, of_archives) {
  for (const char* path : {"", "/etc/passwd", "../x", "a/../x", "a/./x", "a//x", "a/", "a\\x", "http://x/y", "a b"}) {
    Receipt receipt = sample();
    receipt.components[0].archive = path;
    refuses(receipt, "component cuda_nvcc has the archive \"");
  }
  for (const std::string& digest :
       {std::string("../../x"), std::string(63, 'a'), std::string(64, 'A'), std::string(61, 'a') + "/.."}) {
    Receipt receipt = sample();
    receipt.components[0].archive_sha256 = digest;
    refuses(receipt, "component cuda_nvcc has the digest \"" + digest);
  }
  Receipt receipt = sample();
  receipt.components[0].archive_sha256.clear();
  takes(receipt);
}

TEST_F(ReceiptNames, of_products) {
  Receipt product = sample();
  product.components[0].product = "cudnn";
  product.components[0].product_version = "9.14.0";
  product.components[0].lib_directory = "12";
  takes(product);
  for (const std::string& name : k_no_names) {
    Receipt receipt = product;
    receipt.components[0].product_version = name;
    refuses(receipt, "has the product's version \"");
    receipt.components[0].product = name;
    receipt.components[0].product_version = name.empty() ? ".." : "9.14.0";
    refuses(receipt, name.empty() ? "has the product's version \"" : "has the product \"");
  }
  for (const char* directory : {"..", "12/..", "/12", "12.0", "-1", "a", " "}) {
    Receipt receipt = product;
    receipt.components[0].lib_directory = directory;
    refuses(receipt, "has the library directory \"");
  }
}

TEST_F(ReceiptNames, of_the_platform) {
  for (const char* platform : {"linux-../../x", "/x", "..", "linux-a b"}) {
    Receipt receipt = sample();
    receipt.platform = platform;
    refuses(receipt, "the platform \"");
  }
}

TEST_F(ReceiptNames, of_files) {
  for (const std::string& path : {std::string("/etc/passwd"), std::string(".."), std::string("."), std::string("../x"),
                                  std::string("a/../x"), std::string("a/.."), std::string("./x"), std::string("a/."),
                                  std::string("a//x"), std::string("a/"), std::string("/"), std::string("receipt.json"),
                                  std::string("receipt.json/x"), std::string("a\0b", 3), std::string(4097, 'a')})
    refuses(with(path), "no path below the toolkit");
  refuses(with(""), "file without a name has no path below the toolkit");
  for (const char* path : {"a b", "c++/x@1%~#", "...", "..a", "a..", ".a", "a\\b:c", "\xc3\xa9", "a\tb",
                           "sub/receipt.json", "receipt.json.old"})
    takes(with(path));
  takes(with(std::string(4096, 'a')));
}

TEST_F(ReceiptNames, modes) {
  for (const mode_t mode : {mode_t{0}, mode_t{0444}, mode_t{0777}}) {
    Receipt receipt = sample();
    receipt.files[0].mode = mode;
    takes(receipt);
  }
  for (const mode_t mode : {mode_t{04755}, mode_t{02755}, mode_t{01777}, mode_t{0100755}}) {
    Receipt receipt = sample();
    receipt.files[0].mode = mode;
    refuses(receipt, "file bin/nvcc has the mode ");
  }
}

TEST_F(ReceiptNames, of_what_links_lead_to) {
  for (const std::string& target :
       {std::string("/etc"), std::string("/"), std::string(".."), std::string("../x/.."), std::string("../../x"),
        std::string("x/../../.."), std::string("a\0b", 3), std::string(4097, 'a')}) {
    refuses(with("link", target), "link link has the target \"");
  }
  for (const char* target : {"/etc", "../..", "../../x", "..//../x", "x/../../..", "../link/../../.."})
    refuses(with("deep/link", target), "link deep/link has the target \"");
  for (const char* target : {".", "a", "./a//b", "a/b/../c", "a/../b", "...", "..a/x"}) takes(with("link", target));
  for (const char* target : {"..", "../lib", "../../include", "../..", "../../lib/../include"})
    takes(with("targets/x86_64-linux/link", target));
}

// What a link hides of the path that is behind it: ".." after a link leads up from what it stands for.
TEST_F(ReceiptNames, through_links) {
  refuses(with("lib64/x"), "file lib64/x has a link above it");
  refuses(with("lib64/deep/x"), "file lib64/deep/x has a link above it");
  refuses(with("lib64/l", "x"), "file lib64/l has a link above it");
  refuses(with("deep/link", "../lib64/../x"), "link deep/link has the target \"../lib64/../x\"");
  refuses(with("deep/link", "../lib64/x/../y"), "link deep/link has the target \"");
  takes(with("deep/link", "../lib64/x"));
  takes(with("lib64x/x"));
  takes(with("deep/lib64/x"));
  Receipt later = with("z/link", "..");  // a link counts wherever in the list it is
  later.files.insert(later.files.begin(), ReceiptFile{"z/link/x", "", 0644, 0, "", ""});
  refuses(later, "file z/link/x has a link above it");
}

}  // namespace
}  // namespace cudaenv::store
