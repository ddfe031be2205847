// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::store {

// Bytes that a tree takes on the disk, directories included.
struct DiskUse {
  std::uint64_t own = 0;     // free if the tree alone were removed
  std::uint64_t shared = 0;  // of files that another one of the trees has too, by hard links
};

struct DiskUses {
  std::vector<DiskUse> trees;
  std::uint64_t total = 0;  // of all, each file once
};

// Of these trees. No link is followed; one that is absent takes nothing. A file with links from elsewhere is neither a
// tree's own nor shared. What file systems share beneath files (reflinks) cannot be seen.
[[nodiscard]] Result<DiskUses> disk_uses(std::span<const base::Path> trees);

}  // namespace cudaenv::store
