// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "store/receipt.hpp"

namespace cudaenv::store {

// Why a receipt must not be acted on: names in it become paths below a toolkit, a staging directory, the cache of
// archives and a mirror, and the file may be anybody's. "component x has the archive \"../y\"", fit to be shown;
// nothing if each of those paths stays where it belongs, and none leads through a link.
std::optional<std::string> fault_in(const Receipt& receipt);

}  // namespace cudaenv::store
