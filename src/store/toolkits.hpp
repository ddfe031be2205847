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
  bool is_shared = false;   // in the shared root
  bool is_missing = false;  // adopted, and its directory is gone
};

// All whole toolkits of both roots, names before releases, releases ascending; the user's own hides a shared one of
// the same name. Reads no receipt. A shared root that may not be read counts as absent.
[[nodiscard]] Result<std::vector<Toolkit>> installed_toolkits(const Roots& roots);

// Those and the adopted ones whose directory is gone: what can be listed and removed, but not used. Such a one hides
// no shared toolkit.
[[nodiscard]] Result<std::vector<Toolkit>> registered_toolkits(const Roots& roots);

[[nodiscard]] Result<std::optional<Toolkit>> find_toolkit(const Roots& roots, std::string_view name);

// The executables in its bin, sorted; none where the directory is somebody else's and may not be read.
[[nodiscard]] Result<std::vector<std::string>> tools_of(const Toolkit& toolkit);

// Whether an executable of the toolkit's bin gets a shim.
bool gets_shim(const Toolkit& toolkit, std::string_view tool);

}  // namespace cudaenv::store
