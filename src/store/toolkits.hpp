// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "core/version.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

// One installed or adopted toolkit.
struct Toolkit {
  std::string name;  // its directory under versions
  base::Path directory;
  std::optional<core::Version> release;  // nothing: adopted under a name of its own
  std::optional<base::Path> adopted_from;
  bool is_shared = false;  // in the shared root
};

// All whole toolkits of both roots, names before releases, releases ascending; the user's own hides a shared one of
// the same name. Reads no receipt.
[[nodiscard]] Result<std::vector<Toolkit>> installed_toolkits(const Roots& roots);

[[nodiscard]] Result<std::optional<Toolkit>> find_toolkit(const Roots& roots, std::string_view name);

// The executables in its bin, sorted.
[[nodiscard]] Result<std::vector<std::string>> tools_of(const Toolkit& toolkit);

// Names that never get a shim, because the system's own programs have them, or cudaenv itself.
bool is_host_tool(std::string_view name);

}  // namespace cudaenv::store
