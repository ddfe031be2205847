// SPDX-License-Identifier: Apache-2.0
#include "commands/table.hpp"

namespace cudaenv::commands {
namespace {

// clang-format off
constexpr CommandRow k_rows[] = {
    {"install",   "",        "[SPEC] [OPTIONS]",       "Download a release and install it; without SPEC, the one selected here"},
    {"uninstall", "",        "VERSION...",             "Remove installed toolkits"},
    {"available", "",        "[SPEC]",                 "List the releases that can be installed", Visibility::hidden},
    {"adopt",     "",        "DIRECTORY [--name NAME]", "Register a toolkit that is on this machine already, without copying it"},
    {"versions",  "list",    "[--bare | --json]",      "List installed toolkits, the selected one starred"},
    {"version",   "current", "",                       "Show the selected toolkit and what selects it"},
    {"local",     "",        "[SPEC]",                 "Show or set the toolkit of this directory (.cuda-version)"},
    {"pin",       "",        "[SPEC]",                 "Show or set the toolkit of this directory (.cuda-version)", Visibility::hidden},
    {"global",    "",        "[SPEC]",                 "Show or set the default, used where nothing else selects"},
    {"which",     "",        "TOOL",                   "Show the real path of a tool of the selected toolkit"},
    {"whence",    "",        "TOOL",                   "List the installed toolkits that have a tool"},
    {"prefix",    "",        "[SPEC]",                 "Show the directory of a toolkit"},
    {"root",      "",        "",                       "Show the directory in which toolkits are kept"},
    {"exec",      "",        "[-v SPEC] -- COMMAND...", "Run a command with the environment of a toolkit"},
    {"env",       "",        "[SPEC]",                 "Print the environment of a toolkit for a shell or another program"},
    {"rehash",    "",        "",                       "Rebuild the shims (install, uninstall and adopt do it by themselves)"},
    {"config",    "",        "[get|set|unset|list]",   "Show or change settings"},
    {"help",      "",        "[COMMAND]",              "Show help"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> command_rows() { return k_rows; }

const CommandRow* find_command(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const CommandRow& row : k_rows)
    if (row.name == name || row.alias == name) return &row;
  return nullptr;
}

}  // namespace cudaenv::commands
