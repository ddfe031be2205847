// SPDX-License-Identifier: Apache-2.0
#include "store/machine.hpp"

#include <algorithm>

#include <sys/utsname.h>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/files.hpp"
#include "core/tegra_signs.hpp"

namespace cudaenv::store {
namespace {

bool is_tegra(const std::string& host_root) {
  constexpr std::uint64_t k_most = 4096;
  return std::any_of(core::k_tegra_signs.begin(), core::k_tegra_signs.end(), [&](const core::TegraSign& sign) {
    const base::Path path = fmt::format("{}{}", host_root, sign.path);
    if (sign.content.empty()) return base::path_exists(path);
    const auto content = base::read_file(path, k_most);
    return content && *content && (*content)->find(sign.content) != std::string::npos;
  });
}

}  // namespace

core::Machine this_machine(const base::Environment& environment) {
  utsname name = {};
  ::uname(&name);
  return {name.machine, is_tegra(std::string(environment.value(env_names::k_host_root)))};
}

}  // namespace cudaenv::store
