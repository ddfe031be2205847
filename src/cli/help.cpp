// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <fmt/format.h>

namespace cudaenv::cli {

std::string main_help() {
  std::string text =
      "cudaenv keeps several CUDA toolkits side by side and gives each project its own.\n\n"
      "usage: cudaenv COMMAND [ARGUMENTS]\n\n";
  for (const commands::CommandRow& row : commands::command_rows())
    if (row.visibility == commands::Visibility::shown) text += fmt::format("  {:<11} {}\n", row.name, row.summary);
  text +=
      "\noptions of every command:\n"
      "  -q, --quiet                say nothing but data, warnings and errors\n"
      "  --verbose                  say more\n"
      "  --color auto|always|never  when to use colour\n"
      "  -h, --help                 help on the command\n\n"
      "without a command:\n"
      "  --version                  version of cudaenv\n\n"
      "A project names its toolkit in .cuda-version: `cudaenv local 12.8` writes it.\n";
  return text;
}

std::string version_text() { return "cudaenv " CUDAENV_VERSION_TEXT "\n"; }

std::string command_help(const commands::CommandRow& row, const std::string& options) {
  std::string text = fmt::format("{}\n\nusage: cudaenv {}{}{}\n", row.summary, row.name,
                                 row.synopsis.empty() ? "" : " ", row.synopsis);
  if (!row.alias.empty()) text += fmt::format("also called: {}\n", row.alias);
  if (!row.details.empty()) text += fmt::format("\n{}", row.details);
  // The parser's own page begins with summary and usage; its lists follow the first blank line after them.
  const std::size_t usage = options.find("Usage:");
  const std::size_t lists = usage == std::string::npos ? std::string::npos : options.find('\n', usage);
  if (lists != std::string::npos) text += options.substr(lists + 1);
  return text;
}

}  // namespace cudaenv::cli
