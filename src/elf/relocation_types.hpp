// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <elf.h>

namespace cudaenv::elf {

// The numbers that a machine has for three kinds of relocation.
struct RelocationTypes {
  std::uint32_t relative;   // an address in the object itself
  std::uint32_t indirect;   // what a function answers
  std::uint32_t jump_slot;  // a symbol, of DT_JMPREL
};

constexpr RelocationTypes relocation_types(std::uint16_t machine) {
  if (machine == EM_AARCH64) return {R_AARCH64_RELATIVE, R_AARCH64_IRELATIVE, R_AARCH64_JUMP_SLOT};
  return {R_X86_64_RELATIVE, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT};
}

}  // namespace cudaenv::elf
