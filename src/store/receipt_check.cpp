// SPDX-License-Identifier: Apache-2.0
#include "store/receipt_check.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/manifest.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::store {
namespace {

constexpr std::size_t k_longest_path = 4096;

using Paths = std::unordered_set<std::string_view>;

std::string told(std::string_view of, std::string_view subject, std::string_view what) {
  return fmt::format("{} {} has {}", of, subject.empty() ? "without a name" : base::escaped(subject), what);
}

std::string told(std::string_view of, std::string_view subject, std::string_view what, std::string_view value) {
  return told(of, subject, fmt::format("{} \"{}\"", what, base::escaped(value)));
}

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

std::optional<std::string> fault_in(const ReceiptComponent& component) {
  const auto fault = [&](std::string_view what, std::string_view value) {
    return told("component", component.name, what, value);
  };
  if (!core::is_component_name(component.name)) return fault("the name", component.name);
  if (!core::is_plain_relative_path(component.archive)) return fault("the archive", component.archive);
  if (!component.archive_sha256.empty() && !core::is_sha256(component.archive_sha256))
    return fault("the digest", component.archive_sha256);
  if (!component.product.empty() && !core::is_component_name(component.product))
    return fault("the product", component.product);
  if ((!component.product.empty() || !component.product_version.empty()) &&
      !core::is_component_name(component.product_version))
    return fault("the product's version", component.product_version);
  if (!is_number(component.lib_directory)) return fault("the library directory", component.lib_directory);
  return std::nullopt;
}

// Whether it is the path of something that can be installed. Names may hold any byte that a file system takes.
bool is_installed_path(std::string_view path) {
  if (path.empty() || path.size() > k_longest_path || path.find('\0') != std::string_view::npos) return false;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return path.substr(0, path.find('/')) != core::k_receipt_name;
}

// Whether the path is a link, or leads through one.
bool meets_link(std::string_view path, const Paths& links) {
  for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/', end + 1))
    if (links.contains(path.substr(0, end))) return true;
  return links.contains(path);
}

// Follows the target from the link's directory, which no link is above. ".." out of a link would lead somewhere else
// than it seems to.
bool stays_below(std::string_view link, std::string_view target, const Paths& links) {
  if (target.size() > k_longest_path || target.front() == '/' || target.find('\0') != std::string_view::npos)
    return false;
  std::vector<std::string_view> place = base::split(link, '/');
  place.pop_back();
  std::size_t real = place.size();  // so many parts of `place` are known to be no links
  for (const std::string_view part : base::split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      place.push_back(part);
      continue;
    }
    if (place.empty()) return false;
    if (place.size() > real && meets_link(fmt::format("{}", fmt::join(place, "/")), links)) return false;
    place.pop_back();
    real = std::min(real, place.size());
  }
  return true;
}

std::optional<std::string> fault_in(const std::vector<ReceiptFile>& files) {
  Paths links;
  for (const ReceiptFile& file : files)
    if (!file.target.empty()) links.insert(file.path);
  std::string_view last_parent;  // mostly the next one's too
  for (const ReceiptFile& file : files) {
    const std::string_view path = file.path;
    if (!is_installed_path(path)) return told("file", path, "no path below the toolkit");
    if ((file.mode & ~mode_t{0777}) != 0) return told("file", path, fmt::format("the mode {:o}", file.mode));
    const std::size_t slash = path.rfind('/');
    const std::string_view parent = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    if (parent != last_parent && meets_link(parent, links)) return told("file", path, "a link above it");
    last_parent = parent;
    if (!file.target.empty() && !stays_below(path, file.target, links))
      return told("link", path, "the target", file.target);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_in(const Receipt& receipt) {
  if (!receipt.platform.empty() && !core::is_component_name(receipt.platform))
    return fmt::format("it is for the platform \"{}\"", base::escaped(receipt.platform));
  for (const ReceiptComponent& component : receipt.components)
    if (auto fault = fault_in(component)) return fault;
  return fault_in(receipt.files);
}

}  // namespace cudaenv::store
