// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "commands/options.hpp"

namespace cudaenv::commands {

enum class Visibility { shown, hidden };

// A command as help and completion show it. The only list of commands there is.
struct CommandRow {
  std::string_view name;
  std::string_view alias;     // second name; empty if there is none
  std::string_view synopsis;  // what follows the name
  std::string_view summary;   // one line, no full stop
  Options (*make)();          // the options that parsing fills in; null: the parser answers by itself
  Visibility visibility = Visibility::shown;
  std::string_view details = {};  // lines for its own help page
};

// In the order in which help lists them.
std::span<const CommandRow> command_rows();

// By name or alias; null if there is none.
const CommandRow* find_command(std::string_view name);

}  // namespace cudaenv::commands
