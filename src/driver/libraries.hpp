// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/observation.hpp"

namespace cudaenv::driver {

// Where to look for the driver's libraries.
struct LibrarySearch {
  std::vector<std::string> first;  // directories; what lies there is the answer even if it cannot be loaded
  std::string host_root;           // set: the loader is not asked, and the known directories are those below it
};

// A library of the driver, loaded until the process ends. Only SONAMEs are ever opened: under the name without a number
// toolkits ship link stubs, in directories called `stubs`, and a link to one of those is seen before it is called.
class Library {
 public:
  // Opens the first there is of `names`: each in the directories to look at first, then by the loader, then where
  // drivers are known to be installed.
  Library(std::initializer_list<std::string_view> names, const LibrarySearch& search);

  const core::ObservedLibrary& found() const { return m_found; }

  // The first of these symbols that it has; null if it has none, or was not found.
  template <class Function>
  Function* symbol(std::initializer_list<const char*> names) const {
    return reinterpret_cast<Function*>(address(names));
  }

 private:
  bool try_directory(std::string_view directory, std::string_view name);
  void try_loader(const std::string& name);
  bool open(const std::string& path);
  void* address(std::initializer_list<const char*> names) const;

  void* m_handle = nullptr;
  core::ObservedLibrary m_found;
};

}  // namespace cudaenv::driver
