// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "store/roots.hpp"
#include "store/selected.hpp"

namespace cudaenv::store {

// Keeps what `env --hook` prints for a shell, beside the gate's records, so that cudaenv-hook can print it again as
// long as all that it was made from is the same (core/switch_key.hpp). For a selection that was let pass without a
// word. Nothing is kept where there is no place for such records. `program`: this one.
[[nodiscard]] Result<void> keep_switch(const Roots& roots, std::string_view shell, const base::Path& program,
                                       const Selected& selected, std::string_view text);

}  // namespace cudaenv::store
