// SPDX-License-Identifier: Apache-2.0
#include "installer/retyped.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "redist/location.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:,+%@").find(c) != std::string_view::npos;
}

// As one word of a shell, quoted where it has to be.
std::string word(std::string_view text) {
  for (const char c : text)
    if (!is_plain(c)) return base::escaped(shell::quote(shell::Shell::bash, text));
  return std::string(text);
}

std::string mirror(const std::string& typed) {
  // Only an address may hold credentials; a path is shown as it was typed.
  const auto location = redist::parse_location(typed, redist::PlainHttp::everywhere, "/");
  return word(location && !location->is_directory() ? location->shown() : typed);
}

}  // namespace

std::string retyped(const InstallOptions& options) {
  std::string text;
  const auto add = [&](std::string_view option, std::string_view value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, value);
  };
  add("--profile", word(options.profile));
  for (const std::string& name : options.with) add("--with", word(name));
  for (const std::string& name : options.without) add("--without", word(name));
  add("--platform", word(options.platform));
  for (const std::string& typed : options.mirrors) add("--mirror", mirror(typed));
  add("--accept-manifest", word(options.accept_manifest));
  if (options.force) text += " --force";
  if (options.dry_run) text += " --dry-run";
  return text;
}

std::string retyped(const InstallOptions& options, std::string_view release) {
  return fmt::format("cudaenv install {}{}", release, retyped(options));
}

}  // namespace cudaenv::commands
