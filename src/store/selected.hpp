// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/selection_types.hpp"
#include "core/spec.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

// A core::Selection that owns its texts.
struct Selected {
  core::SelectionStatus status = core::SelectionStatus::system;
  core::OriginKind origin = core::OriginKind::none;
  std::string origin_path;  // file or variable; empty for `none` and `argument`
  std::uint32_t origin_line = 0;
  std::string word;  // the spec as written; "system" if nothing selects
  std::string name;  // selected: the toolkit
  base::Path directory;
  std::optional<Error> problem;       // for every status but `system` and `selected`
  std::vector<std::string> warnings;  // one line each

  bool is_toolkit() const { return status == core::SelectionStatus::selected; }
  // "set by /home/u/proj/.cuda-version:3"
  std::string origin_text() const;
  // The same without owning: valid as long as this is.
  core::Selection view() const;
};

enum class Look { everywhere, project_files, root_files };

// What the working directory and the environment of this process select; or what files alone do, for showing them.
Selected current_selection(const Roots& roots, Look look = Look::everywhere);

// What a spec stands for among the installed toolkits.
Selected select_spec(const Roots& roots, const core::Spec& spec);

}  // namespace cudaenv::store
