// SPDX-License-Identifier: Apache-2.0
#include "redist/digest.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

TEST(Sha256, agrees_with_published_examples) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, does_not_depend_on_how_the_bytes_come) {
  Sha256 digest;
  digest.update("a");
  digest.update("");
  Sha256 moved = std::move(digest);
  moved.update("bc");
  EXPECT_EQ(moved.finish(), sha256_of("abc"));
}

TEST(Sha256, is_used_up_by_finish) {
  Sha256 digest;
  (void)digest.finish();
  EXPECT_EQ(digest.finish(), "");
}

}  // namespace
}  // namespace cudaenv::redist
