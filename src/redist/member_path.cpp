// SPDX-License-Identifier: Apache-2.0
#include "redist/member_path.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

// What no name in an archive may hold. A backslash is an ordinary byte here, but a separator for whoever copies
// the tree to another system; no archive of NVIDIA's has one.
std::optional<PathFault> fault_in_bytes(std::string_view name) {
  if (name.empty()) return PathFault::empty;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return PathFault::control_byte;
    if (c == '\\') return PathFault::backslash;
  }
  if (name.front() == '/') return PathFault::absolute;
  return std::nullopt;
}

std::string joined(const std::vector<std::string_view>& parts) {
  std::string path;
  for (const std::string_view part : parts) {
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

}  // namespace

std::string_view words(PathFault fault) {
  switch (fault) {
    case PathFault::empty: return "has an empty name";
    case PathFault::control_byte: return "has control bytes in its name";
    case PathFault::backslash: return "has a backslash in its name";
    case PathFault::absolute: return "has an absolute name";
    case PathFault::parent: return "has \"..\" in its name";
    case PathFault::outside_top: return "is not in the archive's one top directory";
    case PathFault::leaves_prefix: return "leads out of the toolkit";
  }
  return "has a bad name";
}

Checked<std::string> plain_member_path(std::string_view name) {
  if (const auto fault = fault_in_bytes(name)) return tl::unexpected(*fault);
  std::vector<std::string_view> parts;
  for (const std::string_view part : base::split(name, '/')) {
    if (part == "..") return tl::unexpected(PathFault::parent);
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return joined(parts);
}

Checked<std::string> below_top(std::string_view plain_path, std::string_view top) {
  if (plain_path == top) return std::string();
  if (top.empty() || !plain_path.starts_with(top) || plain_path[top.size()] != '/')
    return tl::unexpected(PathFault::outside_top);
  return std::string(plain_path.substr(top.size() + 1));
}

Checked<std::vector<std::string>> check_link_target(std::string_view link, std::string_view target) {
  if (const auto fault = fault_in_bytes(target)) return tl::unexpected(*fault);
  std::vector<std::string_view> place = base::split(link, '/');
  place.pop_back();
  std::size_t real = place.size();  // so many parts of `place` are real directories: nothing is written through links
  std::vector<std::string> entered;
  for (const std::string_view part : base::split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      place.push_back(part);
      continue;
    }
    if (place.empty()) return tl::unexpected(PathFault::leaves_prefix);
    if (place.size() > real) entered.push_back(joined(place));
    place.pop_back();
    real = std::min(real, place.size());
  }
  return entered;
}

}  // namespace cudaenv::redist
