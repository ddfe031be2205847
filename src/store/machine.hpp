// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/environment.hpp"
#include "core/platform.hpp"

namespace cudaenv::store {

// This machine, as the kernel and the board's files tell; CUDAENV_HOST_ROOT is the prefix of those files.
core::Machine this_machine(const base::Environment& environment);

}  // namespace cudaenv::store
