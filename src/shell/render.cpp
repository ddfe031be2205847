// SPDX-License-Identifier: Apache-2.0
#include "shell/render.hpp"

#include "base/text.hpp"

namespace cudaenv::shell {
namespace {

// fish keeps PATH as a list. Other path variables it splits at the colons itself; before 3.0 it kept them as one text,
// which a list would have broken: it joined that with blanks.
std::string fish_words(const std::string& name, const std::string& value) {
  if (name != "PATH") return quote(Shell::fish, value);
  std::string words;
  for (const std::string_view element : base::split(value, ':')) {
    if (!words.empty()) words += ' ';
    words += quote(Shell::fish, element);
  }
  return words;
}

bool is_plain(const std::string& value) {
  return value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%=") ==
         std::string::npos;
}

}  // namespace

std::string render(Shell shell, const core::EnvPlan& plan) {
  std::string text;
  for (const auto& [name, value] : plan.changes) {
    if (shell == Shell::fish)
      text += value ? "set -gx " + name + " " + fish_words(name, *value) : "set -e " + name;
    else
      text += value ? "export " + name + "=" + quote(shell, *value) : "unset " + name;
    text += ";\n";
  }
  return text;
}

std::string render_dotenv(const core::EnvPlan& plan) {
  std::string text;
  for (const auto& [name, value] : plan.changes) {
    if (!value) continue;
    text += name + "=" + (is_plain(*value) ? *value : quote(Shell::bash, *value)) + "\n";
  }
  return text;
}

std::string render_github(const core::EnvPlan& plan) {
  std::string text;
  for (const auto& [name, change] : plan.changes) {
    if (name == "PATH") continue;
    const std::string value = change.value_or("");
    if (value.find('\n') == std::string::npos) {
      text += name + "=" + value + "\n";
    } else {
      std::string end = "CUDAENV_END";
      while (value.find(end) != std::string::npos) end += '_';
      text += name + "<<" + end + "\n" + value + "\n" + end + "\n";
    }
  }
  return text;
}

}  // namespace cudaenv::shell
