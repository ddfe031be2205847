// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

struct LibraryShimChanges {
  std::vector<std::string> written;
  std::vector<std::string> removed;
  std::vector<std::string> warnings;  // of libraries that get none, with the reason
};

// Makes ROOT/shims/lib hold a shim for each SONAME of a library in an installed toolkit that is to have one
// (core/shimmed_libraries.hpp), with the functions of all that have it, and one that refuses for each known SONAME of
// libcudart that none has: without it a program would be given the system's
// without a word. Each file appears, changes or goes at once; a program that starts meanwhile finds the old or the new
// one. Nothing to do: nothing is written. Where no toolkit has any such library, there are none.
// `host` is put before the paths of the system's libraries.
[[nodiscard]] Result<LibraryShimChanges> rebuild_library_shims(const Roots& roots, const base::Path& shim_template,
                                                               const base::Path& host);

}  // namespace cudaenv::store
