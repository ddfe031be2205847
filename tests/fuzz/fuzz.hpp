// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// A fuzz target is this function; the bytes never touch the disk.
void fuzz(std::string_view bytes);

// Ends the process if what a target states about its parser is not so.
inline void require(bool holds) {
  if (!holds) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
