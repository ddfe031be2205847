// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finding a tool on PATH, for the program and the command shim. Under the rules of file_system.hpp.

#include <cstddef>
#include <string_view>

#include <sys/stat.h>

#include "core/fixed_text.hpp"
#include "store/file_system.hpp"

namespace cudaenv::store {

// Whether a path names a file that somebody may execute; whether we may is for execve to say.
template <class Calls>
bool is_program(const FileSystem<Calls>& system, const core::PathText& path, struct stat& info) {
  return !path.is_cut() && system.status(path.c_str(), info) && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0;
}

// Whether a file lies in a directory called `shims`, all links followed: ours by another spelling, that of
// another root, or that of another manager, which would look for the next one on PATH and find us.
template <class Calls>
bool is_shim(const FileSystem<Calls>&, const core::PathText& path) {
  core::PathText real;
  if (!real_path<Calls>(path.view(), real)) return true;
  std::string_view directory = real.view();
  while (!directory.empty() && !directory.ends_with('/')) directory.remove_suffix(1);
  return directory.ends_with("/shims/");
}

// Puts the first program of that name on PATH that is no shim into `path`; whether there is one. An empty
// element of PATH is the working directory, as for execvp; a null PATH is the usual one. `is_own(stat)`: whether a
// file is the caller itself.
template <class Calls, class IsOwn>
bool find_on_path(const FileSystem<Calls>& system, std::string_view tool, const char* list, IsOwn is_own,
                  core::PathText& path) {
  for (const char* element = list ? list : "/bin:/usr/bin"; element;) {
    const char* end = element;
    while (*end != ':' && *end != '\0') ++end;
    const std::string_view directory(element, static_cast<std::size_t>(end - element));
    path.assign(directory.empty() ? "." : directory).append('/').append(tool);
    struct stat info;
    if (is_program(system, path, info) && !is_own(info) && !is_shim(system, path)) return true;
    element = *end == ':' ? end + 1 : nullptr;
  }
  return false;
}

}  // namespace cudaenv::store
