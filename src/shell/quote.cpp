// SPDX-License-Identifier: Apache-2.0
#include "shell/quote.hpp"

#include <algorithm>

namespace cudaenv::shell {

std::string_view name_of(Shell shell) {
  switch (shell) {
    case Shell::bash: return "bash";
    case Shell::zsh: return "zsh";
    case Shell::fish: return "fish";
  }
  return {};
}

std::string quote(Shell shell, std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (shell == Shell::fish) {
      // Between single quotes fish knows two escapes, \' and \\.
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    } else if (c == '\'') {
      out += R"('\'')";
    } else {
      out += c;
    }
  }
  return out + '\'';
}

std::string word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:,+%@").find(c) != std::string_view::npos;
  };
  const bool needs_no_quotes = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return needs_no_quotes ? std::string(text) : quote(Shell::bash, text);
}

}  // namespace cudaenv::shell
