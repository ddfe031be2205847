// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a library shim consists of, as its two makers agree on it: shims/cudart is the template, machine code with an
// empty table; src/elf copies it, adds the names of one library's functions and fills in the table. Freestanding.
//
// All places are distances from the table, so that nothing in it has to be relocated: the loader calls into a shim
// before it has finished with it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/fingerprint.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_shim_section = ".cudaenv";  // of the template: it holds the table
inline constexpr std::size_t k_stub_size = 16;                  // of a stub, and of the path that binds it
inline constexpr std::size_t k_refusal_size = 8192;             // room for the words of a refusal

// In the ELF header of every shim, so that one is never taken for a library that it could stand for. It has the place
// of the address at which a program begins, of which a library has none.
inline constexpr std::uint64_t k_shim_entry = 0x3176'6e65'6164'7563;  // "cudaenv1"

// What a call gets where there is no library to answer it.
enum class ShimAnswer : std::uint32_t {
  error,    // a cudaError_t
  text,     // the words for one
  handle,   // that of a registered GPU program
  channel,  // cudaChannelFormatDesc, a structure
  end,      // none: the process ends, as nothing is known of what the function would answer
};

// One function. Its stub, its slot and its dynamic symbol have the same place in their order.
struct ShimFunction {
  std::uint32_t name;  // in the strings
  std::uint32_t hash;  // of the name, as in DT_GNU_HASH
  ShimAnswer answer;
};

// One library that the shim was made of. Its toolkit need not be where it was then.
struct ShimLibrary {
  std::uint64_t key;  // library_key() of the file
  std::uint32_t first_absent;
  std::uint32_t absent_count;  // functions of the shim that it does not have
};

struct ShimTable {
  // By the assembler.
  std::int64_t stubs;
  std::int64_t bindings;  // the code that each slot points to at first
  std::int64_t slots;
  std::int64_t slot_count;
  std::int64_t resolver;
  std::int64_t resolver_slot;  // for the loader to write to when it has called the resolver
  std::int64_t sentinel_slot;  // the same for the sentinel
  // By the generator.
  std::int64_t strings;
  std::int64_t symbols;
  std::int64_t functions;
  std::int64_t libraries;
  std::int64_t absent;   // numbers of functions
  std::int64_t preload;  // names of files, in the strings
  std::uint32_t function_count;
  std::uint32_t library_count;
  std::uint32_t first_symbol;  // of the functions
  std::uint32_t sentinel;      // symbol whose name becomes a refusal
  std::uint32_t refusal;       // that name, in the strings
  std::uint32_t marker;        // function that no library has; found by the name in the strings below
  std::uint32_t marker_name;
  std::uint32_t soname;
  std::uint32_t root;  // that the shim was made for
  std::uint32_t preload_count;
};

// Tells one build of a library from another, wherever it was copied to.
constexpr std::uint64_t library_key(const FileStamp& stamp) {
  return Fingerprint()
      .add(stamp.size)
      .add(static_cast<std::uint64_t>(stamp.modified_seconds))
      .add(static_cast<std::uint64_t>(stamp.modified_nanoseconds))
      .value();
}

// Where libraries lie in a toolkit's directory, in the order in which they are looked for.
inline constexpr std::string_view k_library_places[] = {
    "/lib64/",
    "/lib/",
#if defined(__x86_64__)
    "/targets/x86_64-linux/lib/",
    "/lib/x86_64-linux-gnu/",
#elif defined(__aarch64__)
    "/targets/sbsa-linux/lib/",
    "/targets/aarch64-linux/lib/",
    "/lib/aarch64-linux-gnu/",
#endif
};

// ELF's number for the machine that this is compiled for.
#if defined(__x86_64__)
inline constexpr std::uint16_t k_elf_machine = 62;
#elif defined(__aarch64__)
inline constexpr std::uint16_t k_elf_machine = 183;
#else
inline constexpr std::uint16_t k_elf_machine = 0;  // no library shims
#endif

}  // namespace cudaenv::core
