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

// ErrorKind::internal if the file that shims are made of is missing. For a command that will need it, before it changes
// anything.
[[nodiscard]] Result<void> check_shim_program(const base::Path& shim);

// Makes ROOT/shims hold `shim` under the name of every tool of an installed toolkit that gets_shim, and nothing else
// but its `lib`. All names are hard links of one file (copies where the file system has no links). Each name appears,
// changes or goes at once; a running shim is never disturbed. ROOT/bin/cudaenv, which shims ask what they cannot tell,
// becomes a link to `program`, unless one was installed there. Nothing to do: nothing is written.
[[nodiscard]] Result<ShimChanges> rebuild_shims(const Roots& roots, const base::Path& shim, const base::Path& program);

}  // namespace cudaenv::store
