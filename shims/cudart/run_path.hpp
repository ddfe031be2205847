// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of a library that a program or a plugin brings along. A wheel says by a run path of `$ORIGIN/...` that it
// wants the copy beside it and no other. The loader obeys LD_LIBRARY_PATH before a DT_RUNPATH, and so has come to the
// shim; the shim makes good for that. A run path that names a toolkit by an absolute path is what build systems leave
// behind, and does not stand against the project's selection.

#include <string_view>

#include "core/fixed_text.hpp"
#include "library_file.hpp"
#include "loaded_object.hpp"

namespace cudaenv::cudart {

// Takes the part before the first ':' or ';', and that one, off the list.
inline std::string_view take_directory(std::string_view& list) {
  std::size_t size = 0;
  while (size < list.size() && list[size] != ':' && list[size] != ';') ++size;
  const std::string_view directory(list.data(), size);
  list.remove_prefix(size < list.size() ? size + 1 : size);
  return directory;
}

// The run path of the object that the shim was loaded for; null: of nothing.
class RunPath {
 public:
  explicit RunPath(const link_map* requester) {
    if (!requester) return;
    const LoadedObject object(requester);
    m_object = object.path();
    m_list = object.text(DT_RUNPATH);
    if (m_list.empty()) m_list = object.text(DT_RPATH);
  }

  // Puts the file in a directory beside the object into `path`; one that is not usable if there is none.
  LibraryFile find_beside(std::string_view soname, core::PathText& path) const {
    return find(soname, path, [&](std::string_view& directory) {
      for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
        if (!directory.starts_with(origin)) continue;
        directory.remove_prefix(origin.size());
        assign_origin(path);
        return true;
      }
      return false;
    });
  }

  // The same for directories named in full.
  LibraryFile find_elsewhere(std::string_view soname, core::PathText& path) const {
    return find(soname, path, [&](std::string_view& directory) {
      path.clear();
      return directory.starts_with('/');
    });
  }

 private:
  template <class Begin>
  LibraryFile find(std::string_view soname, core::PathText& path, Begin begin) const {
    for (std::string_view list = m_list; !list.empty();) {
      std::string_view directory = take_directory(list);
      if (!begin(directory)) continue;
      path.append(directory).append('/').append(soname);
      if (const LibraryFile file = inspect(path); file.is_usable) return file;
    }
    return {};
  }

  // The directory that the object lies in. The loader does not say where the program lies.
  void assign_origin(core::PathText& path) const {
    path.assign(m_object);
    if (m_object.empty()) {
      char buffer[4096];
      const long size = raw::SystemCalls::link_text("/proc/self/exe", buffer, sizeof buffer);
      if (size > 0) path.assign({buffer, static_cast<std::size_t>(size)});
    }
    std::size_t size = path.size();
    while (size > 0 && path.view()[size - 1] != '/') --size;
    path.truncate(size > 1 ? size - 1 : size);
    if (path.size() == 0) path.assign(".");
  }

  std::string_view m_object;
  std::string_view m_list;
};

}  // namespace cudaenv::cudart
