// SPDX-License-Identifier: Apache-2.0
//
// All that is taken from libc and the loader before the constructor is in this file: three variables, and a function
// that nobody interposes. libc's other functions are not to be called while a shim is relocated, as an address
// sanitizer may have put its own, which are not ready, in their place.

#include "process.hpp"

#include <sys/auxv.h>
#include <unistd.h>

extern "C" void* stack_end asm("__libc_stack_end");  // where the kernel put the number of arguments

namespace cudaenv::cudart {

// When a program starts, its libraries are relocated before libc has taken over the environment: then it is where the
// kernel put it, behind the arguments.
char* const* environment() {
  if (environ) return environ;
  const auto* stack = static_cast<const long*>(stack_end);
  return reinterpret_cast<char* const*>(const_cast<long*>(stack) + 2 + stack[0]);
}

raw::Trust trust() { return ::getauxval(AT_SECURE) == 0 ? raw::Trust::caller : raw::Trust::nobody; }

link_map* loaded_objects() { return _r_debug.r_map; }

}  // namespace cudaenv::cudart
