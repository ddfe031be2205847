// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::store {

// A directory that holds toolkits, and where things lie in it.
struct Root {
  base::Path path;

  base::Path versions() const { return path / "versions"; }
  base::Path toolkit(std::string_view name) const { return versions() / name; }
  base::Path cached_archives() const { return path / "cache" / "archives"; }
  base::Path shims() const { return path / "shims"; }
  base::Path library_shims() const { return path / "shims" / "lib"; }
  base::Path version_file() const { return path / "version"; }
  base::Path settings_file() const { return path / "config.toml"; }
  base::Path registry() const { return path / "registry"; }
};

// The user's own root and, if there is one, the shared root, which is only read.
struct Roots {
  Root own;
  std::optional<Root> shared;

  std::vector<const Root*> both() const;  // own first
  std::vector<std::string> both_paths() const;
  core::Roots for_selection() const;
};

// Where they are (core/root_search.hpp); creates nothing. ErrorKind::config if the variables make no sense or there
// is no home.
[[nodiscard]] Result<Roots> locate_roots(const base::Environment& environment);

}  // namespace cudaenv::store
