// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudaenv::redist {

// What an archive says of itself is not to be trusted. Here its names are judged, before anything is opened.

enum class PathFault {
  empty,
  control_byte,
  backslash,
  absolute,
  parent,         // ".." in a member's name
  outside_top,    // not in the archive's one top directory
  leaves_prefix,  // a link's target
};

// Continues a sentence that begins with the member's name: "has an absolute name".
std::string_view words(PathFault fault);

template <class T>
using Checked = tl::expected<T, PathFault>;

// A member's name without what does not count: "./a//b/" is "a/b", "./" is "".
[[nodiscard]] Checked<std::string> plain_member_path(std::string_view name);

// The path relative to the prefix: a plain path without its first part, which has to be `top`. The top directory
// itself is "".
[[nodiscard]] Checked<std::string> below_top(std::string_view plain_path, std::string_view top);

// Judges the target of a symbolic link at `link` (relative to the prefix). Returns the directories (relative to
// the prefix) that the target enters only to leave them by "..": if one of them is a link itself, ".." leads
// somewhere else than it seems to, so each must turn out to be a real directory. Mostly there are none.
[[nodiscard]] Checked<std::vector<std::string>> check_link_target(std::string_view link, std::string_view target);

}  // namespace cudaenv::redist
