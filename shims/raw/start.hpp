// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "raw_system.hpp"

namespace cudaenv::raw {

// What the kernel hands to a new program. The lists lie on the stack and may be changed there: behind the environment
// is the auxiliary vector, of some 20 pairs, which nobody reads after this was taken from it. So up to 16 entries may
// be added to the environment in its place.
struct Start {
  int argument_count;
  char** arguments;
  char** environment;
  const char* executable;  // as it was given to execve; may be null
  Trust trust;
};

// The whole of a program without libc, or with no more of it than `main` (start.cpp, start_libc.cpp); returns its exit
// status.
int run(const Start& start);

}  // namespace cudaenv::raw
