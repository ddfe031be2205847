// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace cudaenv::core {

// What stands first on LD_LIBRARY_PATH for a selected toolkit (setting env.library_path).
enum class LibraryPath {
  shims,    // ROOT/shims/lib: libraries that resolve per project
  toolkit,  // the toolkit's own lib; shadows the CUDA libraries inside Python wheels
  none,
};

// The toolkit to switch to, as the plan needs to know it.
struct ActiveToolkit {
  std::string name;       // 12.8.1
  std::string directory;  // absolute
  bool has_nvcc = false;
};

struct EnvironmentSettings {
  LibraryPath library_path = LibraryPath::shims;
  bool compiler_paths = false;     // CPATH and LIBRARY_PATH too
  bool has_library_shims = false;  // ROOT/shims/lib exists
  bool has_cccl_include = false;   // the toolkit has include/cccl (13.x)
};

// Changes to an environment: a value to set, or nothing to unset. Each name occurs once. What a toolkit needs is there
// even where it has its value already: the plan may be printed for somebody who starts without what is set here.
struct EnvPlan {
  std::vector<std::pair<std::string, std::optional<std::string>>> changes;
};

// What turns `current` into the environment of `toolkit`, or, with none, into one without any toolkit of ours.
// Whatever an earlier plan for any toolkit of these roots put in is taken out first, and what it replaced is put back:
// A to B is the same as entering B, and leaving gives back the environment from before, set, unset and empty alike.
// What the user changed meanwhile stays. `roots`: own, then shared if there is one.
EnvPlan plan_environment(const base::Environment& current, const std::optional<ActiveToolkit>& toolkit,
                         const std::vector<std::string>& roots, const EnvironmentSettings& settings);

// In a list: what will be there, whatever that is.
inline constexpr std::string_view k_unknown = "<unknown>";

// An environment of which nothing is known, with no toolkit in it: each list is k_unknown. A plan for it tells what
// comes before and after that, in any environment.
base::Environment unknown_environment();

void apply(const EnvPlan& plan, base::Environment& environment);

}  // namespace cudaenv::core
