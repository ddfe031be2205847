// SPDX-License-Identifier: Apache-2.0
#include "installer/retyped.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "redist/location.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {
namespace {

std::string word(std::string_view text) { return text.empty() ? "" : base::escaped(shell::word(text)); }

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
  if (options.locked) {
    text += " --locked";  // that has the rest
  } else {
    add("--profile", word(options.profile));
    for (const std::string& name : options.with) add("--with", word(name));
    for (const std::string& name : options.without) add("--without", word(name));
    for (const std::string& name : options.add) add("--add", word(name));
  }
  add("--platform", word(options.platform));
  for (const std::string& typed : options.mirrors) add("--mirror", mirror(typed));
  add("--accept-manifest", word(options.accept_manifest));
  if (options.jobs) add("--jobs", std::to_string(*options.jobs));
  if (options.force) text += " --force";
  if (options.dry_run) text += " --dry-run";
  return text;
}

std::string retyped(const AddOptions& options) {
  std::string text = "cudaenv add";
  for (const std::string& product : options.products) text += " " + word(product);
  for (const std::string& typed : options.mirrors) text += " --mirror " + mirror(typed);
  return text;
}

std::string retyped(const RepairOptions& options, std::string_view name) {
  std::string text = fmt::format("cudaenv repair {}", name);
  for (const std::string& typed : options.mirrors) text += " --mirror " + mirror(typed);
  return text;
}

std::string retyped(const InstallOptions& options, std::string_view release) {
  return fmt::format("cudaenv install {}{}", release, retyped(options));
}

}  // namespace cudaenv::commands
