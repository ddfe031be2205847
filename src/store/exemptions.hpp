// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "store/roots.hpp"
#include "store/selected.hpp"

namespace cudaenv::store {

// What a person told the gate to let pass (--force): one spec in one version file. Kept in ROOT/exemptions.json.
struct Exemption {
  base::Path file;
  std::string spec;  // as written in the file
};

// ErrorKind::config, naming the file, if it is no list of exemptions.
[[nodiscard]] Result<std::vector<Exemption>> load_exemptions(const Roots& roots);

// In place of any other for that file.
[[nodiscard]] Result<void> record_exemption(const Roots& roots, const Exemption& exemption);

// Whether there was one for that file.
[[nodiscard]] Result<bool> drop_exemption(const Roots& roots, const base::Path& file);

// Whether the selection is one of them: the same spec, and the same file by whatever path.
bool is_exempt(const std::vector<Exemption>& exemptions, const Selected& selected);

}  // namespace cudaenv::store
