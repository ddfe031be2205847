// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::shell {

enum class Shell { bash, zsh, fish };

// The text as one word of the shell, whatever bytes it holds (but NUL).
std::string quote(Shell shell, std::string_view text);

}  // namespace cudaenv::shell
