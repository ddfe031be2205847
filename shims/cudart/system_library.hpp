// SPDX-License-Identifier: Apache-2.0
#pragma once

// `system` means: as if cudaenv were not there. So this looks where the loader would have gone on looking, had there
// been no shim: the rest of LD_LIBRARY_PATH, the run path, the loader's cache, its usual directories.

#include <string_view>

#include "base/env_names.hpp"
#include "core/fixed_text.hpp"
#include "core/loader_cache.hpp"
#include "library_file.hpp"
#include "raw/raw_system.hpp"
#include "run_path.hpp"

namespace cudaenv::cudart {

// Calls f(std::string_view) with the content of the loader's cache, and returns its answer; false if there is none.
template <class F>
bool with_loader_cache(std::string_view host, F f) {
  using raw::SystemCalls;
  core::PathText file(host);
  file.append("/etc/ld.so.cache");
  const int fd = SystemCalls::open_at(AT_FDCWD, file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info;
  const bool is_file = SystemCalls::status_of(fd, info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  const auto size = is_file ? static_cast<std::size_t>(info.st_size) : 0;
  void* bytes = is_file && size <= core::LoaderCache::k_largest ? SystemCalls::memory(size) : nullptr;
  bool answer = false;
  if (bytes) {
    if (SystemCalls::read_at(fd, bytes, size, 0) == info.st_size) answer = f({static_cast<char*>(bytes), size});
    SystemCalls::give_back(bytes, size);
  }
  SystemCalls::close(fd);
  return answer;
}

// Puts the system's library into `path`; one that is not usable if it has none.
inline LibraryFile find_in_system(const raw::RawSystem& system, std::string_view soname, const RunPath& run_path,
                                  core::PathText& path) {
  LibraryFile file;
  const auto is_it = [&]() { return (file = inspect(path)).is_usable; };
  const char* variable = system.variable("LD_LIBRARY_PATH");
  for (std::string_view list = variable ? variable : ""; !list.empty();) {
    const std::string_view directory = take_directory(list);
    path.assign(directory.empty() ? "." : directory).append('/').append(soname);
    if (is_it()) return file;
  }
  file = run_path.find_elsewhere(soname, path);
  if (file.is_usable) return file;

  variable = system.variable(env_names::k_host_root);
  const std::string_view host = variable ? variable : "";
  const bool is_cached = with_loader_cache(host, [&](std::string_view bytes) {
    return core::LoaderCache(bytes).find(soname, [&](std::string_view found) {
      path.assign(found);
      return is_it();
    });
  });
  if (is_cached) return file;
  for (const std::string_view directory : core::k_usual_library_places) {
    path.assign(host).append(directory).append(soname);
    if (is_it()) return file;
  }
  return {};
}

}  // namespace cudaenv::cudart
