// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/files.hpp"

namespace cudaenv::store {

struct UsingProcess {
  long id;
  std::string name;  // as the process gave it: any bytes
  bool is_ancestor;  // it waits for this process, so this one must not wait for it
};

// A process of this machine that runs a program below the directory, ancestors of this process first; nothing if there
// is none that we may see, or no such directory.
std::optional<UsingProcess> process_using(const base::Path& directory);

}  // namespace cudaenv::store
