// SPDX-License-Identifier: Apache-2.0
#include "elf/hash_table.hpp"

#include <bit>
#include <vector>

namespace cudaenv::elf {
namespace {

template <class T>
void append(std::string& to, const std::vector<T>& items) {
  to.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
}

}  // namespace

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

std::uint32_t bucket_count(std::size_t symbols) { return static_cast<std::uint32_t>(symbols / 2) | 1; }

std::string gnu_hash_table(std::span<const std::uint32_t> hashes, std::uint32_t first) {
  constexpr std::uint32_t k_shift = 6;  // takes the second bit of the filter from other bits of the hash
  const std::uint32_t buckets_wanted = bucket_count(hashes.size());
  // A filter of 8 bits a symbol answers nearly all look-ups of names that are not here.
  const auto words = static_cast<std::uint32_t>(std::bit_ceil(hashes.size() / 8 + 1));
  std::vector<std::uint64_t> filter(words);
  std::vector<std::uint32_t> buckets(buckets_wanted);
  std::vector<std::uint32_t> chains(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint32_t hash = hashes[i];
    filter[hash / 64 % words] |= std::uint64_t{1} << (hash % 64) | std::uint64_t{1} << ((hash >> k_shift) % 64);
    std::uint32_t& bucket = buckets[hash % buckets_wanted];
    if (bucket == 0) bucket = first + static_cast<std::uint32_t>(i);
    const bool is_last = i + 1 == hashes.size() || hashes[i + 1] % buckets_wanted != hash % buckets_wanted;
    chains[i] = (hash & ~1u) | std::uint32_t{is_last};
  }
  std::string table;
  append(table, std::vector<std::uint32_t>{buckets_wanted, first, words, k_shift});
  append(table, filter);
  append(table, buckets);
  append(table, chains);
  return table;
}

}  // namespace cudaenv::elf
