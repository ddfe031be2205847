// SPDX-License-Identifier: Apache-2.0
#include "shell/quote.hpp"

namespace cudaenv::shell {

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

}  // namespace cudaenv::shell
