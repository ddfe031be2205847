// SPDX-License-Identifier: Apache-2.0
#include "store/machine.hpp"

#include <sys/utsname.h>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/files.hpp"
#include "core/tegra_signs.hpp"

namespace cudaenv::store {
namespace {

bool is_tegra(const std::string& host_root) {
  constexpr std::uint64_t k_most = 4096;
  const auto at = [&](std::string_view path) { return base::Path(fmt::format("{}{}", host_root, path)); };
  return core::shows_tegra([&](std::string_view path) { return base::path_exists(at(path)); },
                           [&](std::string_view path) {
                             const auto content = base::read_file(at(path), k_most);
                             return content && *content ? **content : std::string();
                           });
}

}  // namespace

core::Machine this_machine(const base::Environment& environment) {
  utsname name = {};
  ::uname(&name);
  return {name.machine, is_tegra(std::string(environment.value(env_names::k_host_root)))};
}

}  // namespace cudaenv::store
