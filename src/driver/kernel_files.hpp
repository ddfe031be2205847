// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/observation.hpp"

namespace cudaenv::driver {

// What the kernel's and the board's files below `host_root` say: kind of host, modules, version of the kernel module,
// PCI devices. Opens no device and loads nothing.
core::Observation read_kernel_files(const std::string& host_root);

// The version in /proc/driver/nvidia/version, in the form of the proprietary or of the open module; empty if there is
// none.
std::string version_in_proc_file(std::string_view text);

}  // namespace cudaenv::driver
