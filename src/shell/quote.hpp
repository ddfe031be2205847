// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::shell {

enum class Shell { bash, zsh, fish };

std::string_view name_of(Shell shell);  // "bash"

// The text as one word of the shell, whatever bytes it holds (but NUL).
std::string quote(Shell shell, std::string_view text);

// As one word of a command to be shown: quoted for a POSIX shell, but only where it has to be.
std::string word(std::string_view text);

}  // namespace cudaenv::shell
