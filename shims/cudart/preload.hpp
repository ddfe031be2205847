// SPDX-License-Identifier: Apache-2.0
#pragma once

// Libraries that the real one wants by name, and that the loader would not find, as the real one has no run path: what
// it needs of the same toolkit, and what it opens later, as NVRTC does with its builtins. Once they are opened by their
// paths, the loader has them under their names. They are never closed, as the library is not.

#include <new>
#include <string_view>

#include <dlfcn.h>

#include "core/fixed_text.hpp"
#include "library_file.hpp"
#include "table.hpp"

namespace cudaenv::cudart {

// Opens those that lie beside the library. One that cannot be opened is the library's own trouble.
inline void preload(std::string_view library) {
  if (cudaenv_table.preload_count == 0) return;
  void* memory = raw::SystemCalls::memory(sizeof(core::PathText));  // the stack may be small
  if (!memory) return;
  auto& path = *new (memory) core::PathText;
  while (!library.empty() && !library.ends_with('/')) library.remove_suffix(1);
  const auto* names = part<const std::uint32_t>(cudaenv_table.preload);
  for (std::uint32_t i = 0; i < cudaenv_table.preload_count; ++i) {
    path.assign(library).append(string(names[i]));
    if (inspect(path).is_usable) ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
  raw::SystemCalls::give_back(memory, sizeof(core::PathText));
}

}  // namespace cudaenv::cudart
