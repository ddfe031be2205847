// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <sys/stat.h>

#include "core/fixed_text.hpp"
#include "core/selection.hpp"
#include "core/toolkit_list.hpp"
#include "store/tool_search.hpp"

namespace cudaenv::shim {

// Puts the path of a toolkit's tool into `path`; whether it has it.
template <class System>
bool find_in_toolkit(const System& system, std::string_view directory, std::string_view tool, core::PathText& path) {
  struct stat info;
  path.assign(directory).append("/bin/").append(tool);
  return store::is_program(system, path, info);
}

template <class System>
void list_toolkits_with(const System& system, core::Selector<System>& selector, std::string_view tool,
                        core::ToolkitList& list) {
  selector.installed().for_each([&](std::string_view root, std::string_view name) {
    core::PathText directory(root);
    core::PathText path;
    directory.append("/versions/").append(name);
    if (find_in_toolkit(system, directory.view(), tool, path)) list.add(name);
  });
}

}  // namespace cudaenv::shim
