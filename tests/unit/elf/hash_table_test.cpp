// SPDX-License-Identifier: Apache-2.0
#include "elf/hash_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace cudaenv::elf {
namespace {

// Looks a name up as a loader does; 0: not there.
std::uint32_t look_up(const std::string& table, const std::vector<std::string>& names, const std::string& name) {
  std::vector<std::uint32_t> words(table.size() / 4);
  std::memcpy(words.data(), table.data(), words.size() * 4);
  const std::uint32_t buckets = words[0];
  const std::uint32_t first = words[1];
  const std::size_t filter_size = words[2];
  std::vector<std::uint64_t> filter(filter_size);
  std::memcpy(filter.data(), words.data() + 4, filter_size * 8);
  const std::uint32_t* bucket = words.data() + 4 + 2 * filter_size;
  const std::uint32_t* chain = bucket + buckets;
  const std::uint32_t hash = gnu_hash(name);
  const std::uint64_t word = filter[hash / 64 % filter_size];
  if (((word >> (hash % 64)) & (word >> ((hash >> words[3]) % 64)) & 1) == 0) return 0;
  for (std::uint32_t index = bucket[hash % buckets]; index != 0; ++index) {
    if ((chain[index - first] | 1) == (hash | 1) && names[index - first] == name) return index;
    if ((chain[index - first] & 1) != 0) return 0;
  }
  return 0;
}

TEST(Hash, is_that_of_the_specifications) {
  EXPECT_EQ(gnu_hash(""), 5381U);
  EXPECT_EQ(gnu_hash("printf"), 0x156b2bb8U);
  EXPECT_EQ(gnu_hash("syscall"), 0xbac212a0U);
  EXPECT_EQ(sysv_hash(""), 0U);
  EXPECT_EQ(sysv_hash("printf"), 0x077905a6U);
  EXPECT_EQ(sysv_hash("GLIBC_2.2.5"), 0x09691a75U);
}

TEST(GnuHashTable, finds_each_name_and_no_other) {
  for (const std::size_t count : {0U, 1U, 2U, 7U, 64U, 422U, 2047U}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("cudaFunction" + std::to_string(i));
    const std::uint32_t buckets = bucket_count(count);
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return gnu_hash(a) % buckets < gnu_hash(b) % buckets;
    });
    std::vector<std::uint32_t> hashes;
    for (const std::string& name : names) hashes.push_back(gnu_hash(name));
    const std::string table = gnu_hash_table(hashes, 9);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(look_up(table, names, names[i]), 9 + i) << count;
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(look_up(table, names, "other" + std::to_string(i)), 0U) << count;
  }
}

}  // namespace
}  // namespace cudaenv::elf
