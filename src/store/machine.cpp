// SPDX-License-Identifier: Apache-2.0
#include "store/machine.hpp"

#include <sys/utsname.h>

#include "base/env_names.hpp"
#include "base/files.hpp"

namespace cudaenv::store {
namespace {

// A Tegra marks itself in a release file of its image and in its device tree. Source: compat_rules, Jetson.
bool is_tegra(const std::string& host_root) {
  if (base::path_exists(host_root + "/etc/nv_tegra_release")) return true;
  const auto compatible = base::read_file(host_root + "/proc/device-tree/compatible", 4096);
  return compatible && *compatible && (*compatible)->find("nvidia,tegra") != std::string::npos;
}

}  // namespace

core::Machine this_machine(const base::Environment& environment) {
  utsname name = {};
  ::uname(&name);
  return {name.machine, is_tegra(std::string(environment.value(env_names::k_host_root)))};
}

}  // namespace cudaenv::store
