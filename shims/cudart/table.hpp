// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the generator has written into this shim.

#include <cstddef>
#include <cstdint>

#include <link.h>

#include "core/library_shim.hpp"

// Written by the assembler and then by the generator, so nothing in it is known to the compiler.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is initialized by the assembler
extern "C" [[gnu::visibility("hidden")]] cudaenv::core::ShimTable cudaenv_table;
// By the linker: this object's dynamic section, and with it its identity.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): the same, by the linker
extern "C" [[gnu::visibility("hidden")]] ElfW(Dyn) cudaenv_dynamic[] __asm__("_DYNAMIC");

namespace cudaenv::cudart {

template <class T>
T* part(std::int64_t distance) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(&cudaenv_table) + distance);
}

inline char* string(std::uint32_t offset) { return part<char>(cudaenv_table.strings) + offset; }
inline const char* soname() { return string(cudaenv_table.soname); }
inline const core::ShimFunction& function(std::size_t number) {
  return part<const core::ShimFunction>(cudaenv_table.functions)[number];
}
inline ElfW(Sym) & symbol(std::size_t index) { return part<ElfW(Sym)>(cudaenv_table.symbols)[index]; }
inline void** slot(std::size_t number) { return part<void*>(cudaenv_table.slots) + number; }
inline void* stub(std::size_t number) { return part<char>(cudaenv_table.stubs) + number * core::k_stub_size; }

}  // namespace cudaenv::cudart
