// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.hpp"
#include "store/roots.hpp"
#include "store/staging.hpp"

namespace cudaenv::store {

// What was removed of a root's cache.
struct CacheRemoved {
  Removed archives;               // whole ones that were kept
  Removed partials;               // of downloads that were not finished, with what belongs to them
  int in_use = 0;                 // of both, left to the install that works with them
  std::vector<base::Path> links;  // in the place of a directory of the cache: not followed
};

// Empties the cache of what cudaenv puts there; anything else stays, and so does what a running install has locked, or
// on a file system without locks may have.
[[nodiscard]] Result<CacheRemoved> remove_cached(const Root& root, Removal removal);

}  // namespace cudaenv::store
