// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::redist {

// Links into a new tree what a person or another program has put into the old one: what its receipt does not know, but
// for what has a name that the new tree needs. Directories keep their permissions, empty ones too; what cannot be
// linked is copied.
[[nodiscard]] Result<void> carry_over(const base::Path& from, const base::Path& to);

}  // namespace cudaenv::redist
