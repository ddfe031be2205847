// SPDX-License-Identifier: Apache-2.0
#pragma once

// Libraries of two toolkits do not belong into one process. Each has a shim of its own that selects for itself; a
// process that opens one, goes to another directory and opens the next would mix them. So a toolkit of which a library
// is loaded already is taken without selecting, whoever loaded it.

#include <string_view>

#include <link.h>
#include <sys/stat.h>

#include "core/fixed_text.hpp"
#include "core/library_shim.hpp"
#include "core/selection.hpp"
#include "core/shimmed_libraries.hpp"
#include "loaded_object.hpp"
#include "raw/raw_system.hpp"

namespace cudaenv::cudart {

class OneToolkit {
 public:
  OneToolkit(const core::Roots& roots, core::Installed<raw::RawSystem>& installed)
      : m_roots(roots), m_installed(installed) {}

  // Makes it the toolkit of which a library is loaded; false if there is none. Its directory is put into `buffer`;
  // `directory` is for use meanwhile.
  template <std::size_t Size>
  bool find(core::Selection& selection, core::PathText& directory, char (&buffer)[Size]) {
    for (const link_map* map = loaded_objects(); map; map = map->l_next)
      if (is_by_its_path(map->l_name, directory) || is_by_its_file(map->l_name, directory)) {
        selection = {};
        selection.status = core::SelectionStatus::selected;
        selection.origin.kind = core::OriginKind::process;
        if (directory.size() > Size) return false;
        for (std::size_t i = 0; i < directory.size(); ++i) buffer[i] = directory.view()[i];
        selection.directory = {buffer, directory.size()};
        selection.name = selection.directory;
        selection.name.remove_prefix(m_name);
        return true;
      }
    return false;
  }

 private:
  // As shims open libraries: ROOT/versions/NAME/...
  bool is_by_its_path(std::string_view path, core::PathText& directory) {
    for (const core::PathText* root : {&m_roots.own, &m_roots.shared}) {
      if (root->view().empty() || !path.starts_with(root->view())) continue;
      directory.assign(root->view()).append("/versions/");
      m_name = directory.size();
      if (!path.starts_with(directory.view())) continue;
      std::string_view name = path;
      name.remove_prefix(m_name);
      std::size_t size = 0;
      while (size < name.size() && name[size] != '/') ++size;
      if (size == 0 || size == name.size()) continue;
      directory.append({name.data(), size});
      return true;
    }
    return false;
  }

  // As others may have: by a link, or past the link of an adopted toolkit.
  bool is_by_its_file(std::string_view path, core::PathText& directory) {
    std::string_view file = path;
    for (std::size_t i = path.size(); i-- > 0 && path[i] != '/';) file = {path.data() + i, path.size() - i};
    if (!core::is_shimmed_library(file)) return false;
    path.remove_suffix(file.size());
    struct stat loaded;
    if (path.ends_with("/shims/lib/") || raw::SystemCalls::status(file.data() - path.size(), loaded) != 0) return false;
    bool is_found = false;
    m_installed.for_each([&](std::string_view root, std::string_view name) {
      for (const std::string_view place : core::k_library_places) {
        if (is_found) return;
        directory.assign(root).append("/versions/");
        m_name = directory.size();
        directory.append(name);
        const std::size_t size = directory.size();
        struct stat own;
        is_found = raw::SystemCalls::status(directory.append(place).append(file).c_str(), own) == 0 &&
                   own.st_dev == loaded.st_dev && own.st_ino == loaded.st_ino;
        directory.truncate(size);
      }
    });
    return is_found;
  }

  const core::Roots& m_roots;
  core::Installed<raw::RawSystem>& m_installed;
  std::size_t m_name = 0;  // where it begins in the directory
};

}  // namespace cudaenv::cudart
