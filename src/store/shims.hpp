// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

struct ShimChanges {
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

// Makes ROOT/shims hold `program` under the name of every executable in the bin of an installed toolkit, and nothing
// else but its `lib`. All names are hard links of one file (copies where the file system has no links). Each name
// appears, changes or goes at once; a running shim is never disturbed. Nothing to do: nothing is written.
[[nodiscard]] Result<ShimChanges> rebuild_shims(const Roots& roots, const base::Path& program);

}  // namespace cudaenv::store
