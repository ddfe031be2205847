// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "redist/fetch_all.hpp"

namespace cudaenv::redist {

enum class Holding { absent, whole, damaged };

struct Held {
  Holding holding = Holding::absent;
  std::string damage = {};  // what is wrong, in a few words
};

// What lies where each archive is to lie, in their order: sizes first, then digests, with as many threads as the
// machine has cores. Nothing that lies there is an error; ErrorKind::interrupted is one.
[[nodiscard]] Result<std::vector<Held>> examine(const std::vector<ArchiveJob>& jobs);

}  // namespace cudaenv::redist
