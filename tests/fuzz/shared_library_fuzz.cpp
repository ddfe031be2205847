// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "core/loader_cache.hpp"
#include "elf/shared_library.hpp"

using namespace cudaenv;

// Whatever a file in a toolkit holds, it is read as a library or refused with a reason; every name in it was in the
// file. The same bytes as a cache of the loader give paths that lie in it.
void fuzz(std::string_view bytes) {
  const auto library = elf::read_shared_library(elf::source_of(bytes));
  if (library) {
    require(bytes.find(library->soname) != bytes.npos);
    for (const elf::Export& each : library->exports)
      require(!each.name.empty() && bytes.find(each.name) != bytes.npos && bytes.find(each.version) != bytes.npos);
  } else {
    require(library.error().kind == ErrorKind::integrity && !library.error().details.empty());
  }
  core::LoaderCache(bytes).find("libcudart.so.13", [&](std::string_view path) {
    require(path.empty() || (path.data() >= bytes.data() && path.data() + path.size() <= bytes.data() + bytes.size()));
    return false;
  });
}
