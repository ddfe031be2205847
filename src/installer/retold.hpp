// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.hpp"
#include "base/text.hpp"
#include "commands/options.hpp"
#include "installer/retyped.hpp"
#include "shell/quote.hpp"

namespace cudaenv::installer {

// An error of what is shared with `install`, with a hint for another command: `verb` is that command, `subject` the
// releases that were typed after it, each with a blank before it, `options` the rest.
template <class Options>
Error retold(Error error, std::string_view verb, std::string_view subject, const Options& options) {
  constexpr std::string_view k_install = "cudaenv install ";
  commands::InstallOptions others;
  others.profile = options.profile;
  others.with = options.with;
  others.without = options.without;
  if constexpr (requires { options.add; }) others.add = options.add;
  if (error.kind != ErrorKind::network) others.mirrors = options.mirrors;
  std::string rest = commands::retyped(others);
  for (const std::string& platform : options.platforms) rest += " --platform " + base::escaped(shell::word(platform));
  if (error.kind == ErrorKind::network && error.hint.empty())
    error.hint = fmt::format("{}{}{} --mirror URL_OR_DIRECTORY", verb, subject, rest);
  const bool is_of_install =
      error.hint.find(" --dry-run") != std::string::npos || error.hint.find(" --list") != std::string::npos;
  if (!error.hint.starts_with(k_install) || is_of_install) return error;
  // Another release, or what to type after this one.
  const std::size_t at = error.hint.find(' ', k_install.size());
  if (at == std::string::npos)
    error.hint = fmt::format("{} {}", verb, error.hint.substr(k_install.size()));
  else
    error.hint =
        fmt::format("{}{}{}{}", verb, subject, error.hint.substr(at), error.kind == ErrorKind::untrusted ? rest : "");
  return error;
}

}  // namespace cudaenv::installer
