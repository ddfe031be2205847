// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which two roots are in force; shared by program and shims, so under the rules of selection.hpp.

#include <cstddef>
#include <string_view>

#include "base/env_names.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_default_shared_root = "/opt/cudaenv";

enum class RootStatus {
  found,
  bad_variable,  // CUDAENV_ROOT or CUDAENV_SHARED_ROOT is relative, too long or holds control bytes
  no_home,       // neither CUDAENV_ROOT nor such a HOME
};

struct RootOutcome {
  RootStatus status = RootStatus::found;
  std::string_view variable;  // bad_variable: its name and value
  std::string_view value;
};

constexpr std::size_t k_longest_root = 3072;  // leaves room in a PathText for what lies in the root

constexpr bool is_plain_absolute_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() > k_longest_root) return false;
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

// Own root: CUDAENV_ROOT; else `beside`, the root that a shim lies in (empty for the program; not if it is the shared
// root; by the name that ~/.cudaenv gives it if that is the same directory); else ~/.cudaenv with `home` (HOME, or what
// the caller takes in its place).
// Shared root: CUDAENV_SHARED_ROOT (set and empty: none), else /opt/cudaenv if it exists.
template <class System>
RootOutcome find_roots(System& system, std::string_view beside, std::string_view home, Roots& roots) {
  const auto assign = [](PathText& root, std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    root.assign(path);
  };
  if (const char* shared = system.variable(env_names::k_shared_root)) {
    if (*shared && !is_plain_absolute_path(shared)) return {RootStatus::bad_variable, env_names::k_shared_root, shared};
    assign(roots.shared, shared);
  } else if (system.exists(PathText(k_default_shared_root).c_str())) {
    roots.shared.assign(k_default_shared_root);
  }

  if (const char* own = system.variable(env_names::k_root); own && *own) {
    if (!is_plain_absolute_path(own)) return {RootStatus::bad_variable, env_names::k_root, own};
    assign(roots.own, own);
  } else {
    const bool has_home = is_plain_absolute_path(home);
    if (has_home) {
      assign(roots.own, home);
      roots.own.append(home == "/" ? ".cudaenv" : "/.cudaenv");
    }
    if (!beside.empty()) {
      // A home behind a link: both must spell it as the user does, or one would not know the other's entries on PATH.
      const bool is_home = has_home && (roots.own.view() == beside ||
                                        system.is_same_directory(roots.own.c_str(), PathText(beside).c_str()));
      const bool is_shared =
          !is_home &&
          (beside == roots.shared.view() ||
           (roots.shared.size() != 0 && system.is_same_directory(roots.shared.c_str(), PathText(beside).c_str())));
      if (!is_home && !(is_shared && has_home)) roots.own.assign(beside);
    } else if (!has_home) {
      return {RootStatus::no_home, {}, {}};
    }
  }
  if (roots.own.view() == roots.shared.view()) roots.shared.clear();
  return {};
}

}  // namespace cudaenv::core
