// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/dotted_version.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// "12.8.1"
std::string to_text(const Version& version);
std::string to_text(const DottedVersion& version);

}  // namespace cudaenv::core
