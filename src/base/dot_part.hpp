// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace cudaenv::base {

// Whether "." or ".." is a part of the path. Such a PWD is not used: going up from it by name would go astray.
constexpr bool has_dot_part(std::string_view path) {
  for (std::size_t start = 0; start < path.size(); ++start) {
    std::size_t end = start;
    while (end < path.size() && path[end] != '/') ++end;
    const std::size_t size = end - start;
    if ((size == 1 || size == 2) && path[start] == '.' && path[end - 1] == '.') return true;
    start = end;
  }
  return false;
}

}  // namespace cudaenv::base
