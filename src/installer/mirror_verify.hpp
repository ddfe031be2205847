// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/output.hpp"
#include "commands/app.hpp"
#include "installer/mirror_directory.hpp"
#include "redist/source.hpp"

namespace cudaenv::installer {

// Compares what is in the directory with its manifests, and those with the registry. What is absent is counted: a
// mirror need not have all platforms and profiles. What belongs to no manifest is named. ErrorKind::integrity if
// anything is damaged, ErrorKind::not_found if there is no manifest.
[[nodiscard]] Result<void> verify_mirror(const MirrorDirectory& mirror, const redist::AcceptedManifest& accepted,
                                         commands::App& app);

}  // namespace cudaenv::installer
