// SPDX-License-Identifier: Apache-2.0
#include "redist/retry.hpp"

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RetryPolicy k_policy{.retries = 8, .pause = milliseconds(500), .longest = seconds(30)};

Tries in_vain(int count) {
  Tries tries;
  for (int i = 0; i < count; ++i) tries.add(0);
  return tries;
}

TEST(Retry, pauses_double_up_to_the_longest) {
  const int full[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
  for (int tried = 1; tried <= 8; ++tried) {
    EXPECT_EQ(next_pause(k_policy, in_vain(tried), std::nullopt, 1), milliseconds(full[tried - 1])) << tried;
    EXPECT_EQ(next_pause(k_policy, in_vain(tried), std::nullopt, 0), milliseconds(full[tried - 1] / 2)) << tried;
  }
}

TEST(Retry, ends_after_so_many_in_vain) {
  EXPECT_TRUE(next_pause(k_policy, in_vain(8), std::nullopt, 0));
  EXPECT_FALSE(next_pause(k_policy, in_vain(9), std::nullopt, 0));
  EXPECT_FALSE(next_pause({.retries = 0}, in_vain(1), std::nullopt, 0));
}

TEST(Retry, what_brought_something_is_no_try_in_vain) {
  Tries tries;
  for (int i = 0; i < 100; ++i) tries.add(1 << 20);
  EXPECT_EQ(tries.count, 100);
  EXPECT_EQ(next_pause(k_policy, tries, std::nullopt, 1), milliseconds(500));
  tries.add(0);
  EXPECT_EQ(next_pause(k_policy, tries, std::nullopt, 1), milliseconds(1000));
}

TEST(Retry, drops_of_bytes_do_not_go_on_for_ever) {
  Tries drops;
  for (int i = 0; i < 9; ++i) drops.add(1);
  EXPECT_FALSE(next_pause(k_policy, drops, std::nullopt, 0));
  Tries many;
  for (int i = 0; i < 1000; ++i) many.add(1 << 20);
  EXPECT_FALSE(next_pause(k_policy, many, std::nullopt, 0));
}

TEST(Retry, what_the_server_asks_for_counts_where_it_is_longer_up_to_a_minute) {
  EXPECT_EQ(next_pause(k_policy, in_vain(1), seconds(5), 1), seconds(5));
  EXPECT_EQ(next_pause(k_policy, in_vain(1), seconds(0), 1), milliseconds(500));
  EXPECT_EQ(next_pause(k_policy, in_vain(1), seconds(3600), 1), seconds(60));
  EXPECT_FALSE(next_pause(k_policy, in_vain(9), seconds(5), 1));
}

}  // namespace
}  // namespace cudaenv::redist
