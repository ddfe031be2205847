// SPDX-License-Identifier: Apache-2.0
#include "store/toolkits.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "core/selection.hpp"
#include "core/spec.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::store {
namespace {

// Sorted.
constexpr std::array<std::string_view, 26> k_host_tools = {
    "ar",      "as",   "bash", "c++",    "cc",      "clang",  "clang++", "cmake", "cpp",
    "cudaenv", "env",  "g++",  "gcc",    "gdb",     "ld",     "make",    "nm",    "objcopy",
    "objdump", "perl", "pip",  "python", "python3", "ranlib", "sh",      "strip"};
static_assert(std::is_sorted(k_host_tools.begin(), k_host_tools.end()));

bool comes_before(const Toolkit& a, const Toolkit& b) {
  if (a.release.has_value() != b.release.has_value()) return !a.release;
  return a.release ? *a.release < *b.release : a.name < b.name;
}

bool is_toolkit_directory_name(std::string_view name) {
  return core::parse_version(name) || core::is_toolkit_name(name);
}

}  // namespace

Result<std::vector<Toolkit>> installed_toolkits(const Roots& roots) {
  PosixSystem system;
  const core::Roots searched = roots.for_selection();
  const auto selector = std::make_unique<core::Selector<PosixSystem>>(system, searched);
  std::vector<Toolkit> toolkits;
  for (const Root* root : roots.both()) {
    CUDAENV_TRY(names, base::list_directory(root->versions()));
    for (const std::string& name : names) {
      if (!is_toolkit_directory_name(name) || !selector->is_toolkit(root->path.native(), name)) continue;
      const bool is_known =
          std::any_of(toolkits.begin(), toolkits.end(), [&](const Toolkit& other) { return other.name == name; });
      if (is_known) continue;
      Toolkit toolkit{name, root->toolkit(name), core::parse_version(name), std::nullopt, root != &roots.own};
      if (base::entry_kind(toolkit.directory) == base::EntryKind::link) {
        CUDAENV_TRY(target, base::link_target(toolkit.directory));
        toolkit.adopted_from = target;
      }
      toolkits.push_back(std::move(toolkit));
    }
  }
  std::sort(toolkits.begin(), toolkits.end(), comes_before);
  return toolkits;
}

Result<std::optional<Toolkit>> find_toolkit(const Roots& roots, std::string_view name) {
  CUDAENV_TRY(toolkits, installed_toolkits(roots));
  for (Toolkit& toolkit : toolkits)
    if (toolkit.name == name) return std::move(toolkit);
  return std::nullopt;
}

Result<std::vector<std::string>> tools_of(const Toolkit& toolkit) {
  CUDAENV_TRY(names, base::list_directory(toolkit.directory / "bin"));
  std::erase_if(names,
                [&](const std::string& name) { return !base::executable_exists(toolkit.directory / "bin" / name); });
  return std::move(names);
}

bool is_host_tool(std::string_view name) { return std::binary_search(k_host_tools.begin(), k_host_tools.end(), name); }

}  // namespace cudaenv::store
