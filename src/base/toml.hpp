// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/value.hpp"

namespace cudaenv::base {

// Parses one TOML document. The error carries line, column and what was expected; dates and times are
// kept as their text.
[[nodiscard]] Result<Value> parse_toml(std::string_view text);

}  // namespace cudaenv::base
