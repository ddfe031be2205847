// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

namespace cudaenv::base {

// From now on Ctrl-C, SIGTERM and SIGHUP ask for an orderly end instead of ending the process; a second one of any
// kind ends it. Those that are ignored stay ignored, as under nohup.
void catch_interrupts();

bool is_interrupted();

// The error that a long operation returns when it was asked to end. What was done by then, its caller adds.
Error interrupted_error();

}  // namespace cudaenv::base
