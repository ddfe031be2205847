// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "core/registry.hpp"
#include "registry/load_tables.hpp"

namespace cudaenv::registry {

// Puts every table into its order (order.hpp), with duplicates as an error, and replaces each component's
// direct needs by all that they lead to.
Result<void> arrange(Tables& tables);

// Whether the references from row to row hold in sorted tables, and no profile holds what it must not.
Result<void> check_references(const core::Registry& registry);

}  // namespace cudaenv::registry
