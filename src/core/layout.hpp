// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// Changes with where files go, so that nothing is taken over from a tree that was laid out otherwise.
inline constexpr int k_layout = 1;

// Whether a file or link of the component's archive belongs into the toolkit: not if it is for another CUDA.
bool is_for_toolkit(std::string_view path, const PlannedComponent& component);

// Where one that does goes. Archives are laid out for themselves (lib, pkg-config, LICENSE at the top); a toolkit has
// one lib, one place for .pc files and one licence a component.
// A driver-class component stays in extras/<component>, so that its libcuda is never beside the toolkit's libraries. Of
// another product, nothing lies at the toolkit's top, where a version.txt would be taken for the toolkit's.
std::string installed_path(std::string_view path, const PlannedComponent& component, std::string_view target_directory);

// What the link at `path` of an archive says in the toolkit: its own words, unless it or what it leads to was moved.
// `target` is relative and stays in the archive.
std::string installed_target(std::string_view path, std::string_view target, const PlannedComponent& component,
                             std::string_view target_directory);

// The paths of the merged tree's files and links.
using Tree = std::set<std::string>;

struct LinkToMake {
  std::string path;
  std::string target;  // relative to the link's directory
  friend bool operator==(const LinkToMake&, const LinkToMake&) = default;
};

// The links that make every consumer work on a merged tree: lib64, targets/<target>/{include,lib}, extras/CUPTI,
// unversioned names of .pc files, the Nsight tools in bin. All relative, so that the tree can be moved; none
// where something stands already.
std::vector<LinkToMake> plan_links(const Tree& tree, std::string_view target_directory);

// The text of a .pc file made independent of where the toolkit lies: its root becomes ${pcfiledir}/../.. .
std::string relocated_pc(std::string_view text);

// Files that must be there if the compiler was installed whole; the ones that are missing.
// Source: archive_layouts of the redistributables; nvcc cannot compile device code without any of them.
std::vector<std::string> missing_compiler_files(const Tree& tree);

struct VersionRecord {
  std::string key;   // cuda_nvcc
  std::string name;  // CUDA NVCC
  std::string version;
};

// version.json as NVIDIA's installers write it; the archives bring none. CMake and others read `cuda.version`.
std::string version_json(const Version& release, const std::vector<VersionRecord>& components);

}  // namespace cudaenv::core
