// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What stays the same in the completion scripts; @NAME@ stands for a list that is filled in.

namespace cudaenv::cli {

extern const std::string_view k_bash_script;
extern const std::string_view k_zsh_script;
extern const std::string_view k_zsh_actions;  // of a function in it: what follows a command that has actions
extern const std::string_view k_fish_script;

}  // namespace cudaenv::cli
