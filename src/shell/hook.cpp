// SPDX-License-Identifier: Apache-2.0
#include "shell/hook.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "shell/completion.hpp"
#include "shell/render.hpp"

namespace cudaenv::shell {
namespace {

// A list as the shell writes one.
std::string list(Shell shell, const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) words.push_back(quote(shell, text));
  const std::string line = base::join(words, " ");
  return shell == Shell::fish ? line : fmt::format("({})", line);
}

// A shell may have comments switched off, and a person's shell has no use for ours.
std::string without_comments(std::string_view text) {
  std::string lines;
  for (const std::string_view line : base::split(text, '\n')) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string_view::npos && line[start] != '#') lines.append(line) += '\n';
  }
  return lines;
}

}  // namespace

std::string render_hook(Shell shell, const HookPlaces& places) {
  const std::pair<std::string_view, std::string> values[] = {
      {"@PROGRAM@", quote(shell, places.program)},
      {"@HOOK_PROGRAM@", quote(shell, places.hook_program)},
      {"@SHIMS@", quote(shell, places.shims)},
      {"@GLOBALS@", list(shell, places.global_files)},
      {"@COMPLETION@\n", std::string(completion_loader(shell))},
  };
  std::string text = without_comments(hook_template(shell));
  for (const auto& [name, value] : values) {
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), value);
  }
  return text;
}

std::string render_change(Shell shell, const core::EnvPlan& plan, const base::Environment& exported) {
  std::string text;
  for (const auto& [name, value] : plan.changes) {
    const bool is_of_ours = std::string_view(name).starts_with("CUDAENV_");
    if (value && !is_of_ours && !exported.get(name)) text += "__cudaenv_hide " + name + ";\n";
    if (!value)
      text += "__cudaenv_unset " + name + ";\n";
    else
      text += (shell == Shell::fish ? "" : "\\builtin ") + render(shell, {{{name, value}}});
  }
  return text;
}

std::string_view ask_again(Shell shell) {
  return shell == Shell::fish ? "set -g __cudaenv_again 1;\n" : "__cudaenv_again=1;\n";
}

}  // namespace cudaenv::shell
