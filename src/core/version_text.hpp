// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/dotted_version.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// "12.8.1"
std::string to_text(const Version& version);
std::string to_text(const DottedVersion& version);
// "12.8"
std::string to_text(const Minor& minor);
// "7.5"
std::string to_text(const ComputeCapability& capability);
// A driver as NVIDIA writes it, with two digits at least in every part but the first: "450.80.02", "418.39".
std::string driver_text(const DottedVersion& version);

}  // namespace cudaenv::core
