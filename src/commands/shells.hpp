// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {

// By its name. ErrorKind::usage with `hint` for any other.
[[nodiscard]] Result<shell::Shell> parse_shell(const std::string& text, std::string hint);

}  // namespace cudaenv::commands
