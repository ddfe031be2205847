// SPDX-License-Identifier: Apache-2.0
#include "shell/modulefile.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"

namespace cudaenv::shell {
namespace {

// One word of Tcl, whatever bytes it holds, also in a body between braces. Octal, since \x takes all hexadecimal digits
// that follow. Bytes beyond ASCII are read as the locale has them, so they stay as they are.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\{:03o}", byte);
    else if (std::string_view("\\\"$[]{}").find(c) != std::string_view::npos)
      out += {'\\', c};
    else
      out += c;
  }
  return out + '"';
}

// What the plan puts around a list. Last comes first, as each command puts its element before those of the ones before.
std::string around_list(std::string_view name, const std::vector<std::string_view>& elements,
                        std::vector<std::string_view>::const_iterator rest) {
  std::string text;
  for (auto at = rest; at != elements.begin();) text += fmt::format("prepend-path {} {}\n", name, quoted(*--at));
  for (auto at = rest + 1; at != elements.end(); ++at) text += fmt::format("append-path {} {}\n", name, quoted(*at));
  return text;
}

}  // namespace

std::string render_modulefile(std::string_view name, const core::EnvPlan& plan) {
  const std::string title = quoted(fmt::format("NVIDIA CUDA toolkit {}", name));
  std::string text = fmt::format(
      "#%Module1.0\n"
      "proc ModulesHelp {{ }} {{\n"
      "  puts stderr {}\n"
      "}}\n"
      "module-whatis {}\n"
      "conflict cuda\n",
      title, title);
  for (const auto& [variable, value] : plan.changes) {
    // It would make cudaenv take the module's entries for its own, and remove them.
    if (variable == env_names::k_active || !value) continue;
    const std::vector<std::string_view> elements = base::split(*value, ':');
    const auto rest = std::find(elements.begin(), elements.end(), core::k_unknown);
    text += rest == elements.end() ? fmt::format("setenv {} {}\n", variable, quoted(*value))
                                   : around_list(variable, elements, rest);
  }
  return text;
}

}  // namespace cudaenv::shell
