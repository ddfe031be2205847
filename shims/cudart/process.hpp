// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <link.h>

#include "raw/raw_system.hpp"

namespace cudaenv::cudart {

// What the loader and libc know of the process; may be asked while the shim is being relocated.
char* const* environment();
raw::Trust trust();
link_map* loaded_objects();  // in the order in which they were loaded

}  // namespace cudaenv::cudart
