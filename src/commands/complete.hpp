// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudaenv::commands {

// Whether `complete` lists values of that kind; others are words or paths, which the shells know by themselves.
bool is_listed_kind(std::string_view kind);

}  // namespace cudaenv::commands
