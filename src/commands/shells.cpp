// SPDX-License-Identifier: Apache-2.0
#include "commands/shells.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::commands {

Result<shell::Shell> parse_shell(const std::string& text, std::string hint) {
  if (text == "bash" || text == "sh") return shell::Shell::bash;
  if (text == "zsh") return shell::Shell::zsh;
  if (text == "fish") return shell::Shell::fish;
  return fail(ErrorKind::usage, fmt::format("there is no shell \"{}\" here", base::escaped(text)), std::move(hint),
              {"known: bash, zsh, fish"});
}

}  // namespace cudaenv::commands
