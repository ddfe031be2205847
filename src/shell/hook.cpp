// SPDX-License-Identifier: Apache-2.0
#include "shell/hook.hpp"

#include <utility>

namespace cudaenv::shell {
namespace {

// A list as the shell writes one.
std::string list(Shell shell, const std::vector<std::string>& texts) {
  std::string words;
  for (const std::string& text : texts) words += (words.empty() ? "" : " ") + quote(shell, text);
  return shell == Shell::fish ? words : "(" + words + ")";
}

}  // namespace

std::string render_hook(Shell shell, const HookPlaces& places) {
  const std::pair<std::string_view, std::string> values[] = {
      {"@PROGRAM@", quote(shell, places.program)},
      {"@SHIMS@", quote(shell, places.shims)},
      {"@GLOBALS@", list(shell, places.global_files)},
  };
  std::string text(hook_template(shell));
  for (const auto& [name, value] : values) {
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), value);
  }
  return text;
}

std::string_view ask_again(Shell shell) {
  return shell == Shell::fish ? "set -g __cudaenv_again 1;\n" : "__cudaenv_again=1;\n";
}

}  // namespace cudaenv::shell
