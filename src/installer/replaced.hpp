// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/output.hpp"
#include "store/staging.hpp"

namespace cudaenv::installer {

// Removes a tree that was replaced. A running compiler starts its helpers out of its own tree as it goes on, so this
// waits until nothing runs from it any more. What this process need not or must not wait for is left to the next
// install.
void remove_replaced(store::Staging replaced, const std::string& name, base::Output& output);

}  // namespace cudaenv::installer
