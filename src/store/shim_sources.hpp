// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "elf/shared_library.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

// A library that a shim may stand for.
struct ShimSource {
  base::Path file;
  std::uint64_t key = 0;  // core::library_key
  elf::SharedLibrary library;
  std::vector<std::string> preload;  // files beside it that it wants by name and would not find
};

struct ShimSources {
  std::vector<ShimSource> installed;  // of toolkits
  std::vector<ShimSource> system;     // of the system, which `system` selects
  std::vector<std::string> warnings;  // of files that were passed over, with the reason
};

// The libraries of core/shimmed_libraries.hpp, of this machine's kind, in all installed toolkits, and those of the
// system that have one of the names found or `known`. A file counts under its SONAME, as the loader looks for it.
// `host` is put before the paths of the system's.
[[nodiscard]] Result<ShimSources> find_shim_sources(const Roots& roots, const base::Path& host,
                                                    const std::vector<std::string>& known);

}  // namespace cudaenv::store
