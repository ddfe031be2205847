// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/manifest.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// What decides the platform. A Tegra (Jetson) and an Arm server have the same CPU and different toolkits.
struct Machine {
  std::string cpu;  // as uname gives it
  bool is_tegra = false;
};

// The platform of NVIDIA's manifests that the machine takes its archives from: linux-x86_64, linux-sbsa,
// linux-ppc64le, or linux-aarch64 for a Tegra up to 12.9 (from 13.0 on it takes linux-sbsa).
std::string platform_name(const Machine& machine, const Version& release);

// The same, or ErrorKind::not_found if the release was not published for the machine.
[[nodiscard]] Result<std::string> platform_for(const Machine& machine, const Version& release,
                                               const Manifest& manifest);

// ErrorKind::not_found, naming those there are, unless it is a Linux and some component has an archive for it.
[[nodiscard]] Result<void> check_platform(std::string_view platform, const Version& release, const Manifest& manifest);

// Those that the manifest has archives for and a toolkit can be made for, sorted.
std::vector<std::string> platforms_of(const Manifest& manifest);

// The directory under targets/ that nvcc and CMake look for: x86_64-linux, sbsa-linux, aarch64-linux, ppc64le-linux.
std::string target_directory(std::string_view platform);

}  // namespace cudaenv::core
