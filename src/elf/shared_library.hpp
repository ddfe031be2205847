// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "elf/byte_source.hpp"

namespace cudaenv::elf {

// A symbol that a library offers to others.
struct Export {
  std::string name;
  std::string version;      // empty: none
  bool is_default = true;   // the version that a linker takes
  bool is_function = true;  // and not data, or chosen when it is loaded
  bool is_weak = false;
};

struct SharedLibrary {
  std::uint16_t machine = 0;
  std::string soname;
  std::vector<std::string> needed;
  bool has_run_path = false;
  std::vector<Export> exports;  // in the order of the library's table
};

// What a shared library for a 64-bit little-endian machine says of itself by its program headers and dynamic section,
// as a loader would read it; section headers are not needed. Only what these name is read. ErrorKind::integrity for
// anything that is not one, or is damaged. If a SONAME is given, the exports of a library of another one are not read.
[[nodiscard]] Result<SharedLibrary> read_shared_library(const ByteSource& source, std::string_view soname = {});

}  // namespace cudaenv::elf
