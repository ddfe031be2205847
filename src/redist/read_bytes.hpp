// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.hpp"

namespace cudaenv::redist {

// Where bytes come from: fills some of the buffer and says how much; 0 only at the end.
using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

inline constexpr std::size_t k_block_size = std::size_t{256} << 10;  // bytes handed on at once

}  // namespace cudaenv::redist
