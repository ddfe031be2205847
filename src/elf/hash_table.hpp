// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv::elf {

// The hash of a name in DT_GNU_HASH.
std::uint32_t gnu_hash(std::string_view name);
// The hash of a name in the System V ABI; versions still have it.
std::uint32_t sysv_hash(std::string_view name);

// How many buckets a table of that many symbols gets. Symbols have to lie in the order of hash % buckets.
std::uint32_t bucket_count(std::size_t symbols);

// DT_GNU_HASH of symbols of these hashes, in that order; the first of them is number `first` of the symbol table.
std::string gnu_hash_table(std::span<const std::uint32_t> hashes, std::uint32_t first);

}  // namespace cudaenv::elf
