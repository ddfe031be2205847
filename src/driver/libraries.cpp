// SPDX-License-Identifier: Apache-2.0
#include "driver/libraries.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::driver {
namespace {

// Where they are when the loader does not know: WSL, NixOS, the distributions, Jetson (L4T to 35, from 36).
constexpr std::array<std::string_view, 7> k_known_directories{
    "/usr/lib/wsl/lib",           "/run/opengl-driver/lib",           "/usr/lib/x86_64-linux-gnu",         "/usr/lib64",
    "/usr/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu/tegra", "/usr/lib/aarch64-linux-gnu/nvidia",
};

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, FreeText> real(::realpath(path.c_str(), nullptr));
  return real ? real.get() : path;
}

bool is_stub(std::string_view real_path) {
  const auto parts = base::split(real_path, '/');
  return std::find(parts.begin(), parts.end(), "stubs") != parts.end();
}

// The file that the loader took.
std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return {};
  return real_path(map->l_name);
}

std::string loader_error() {
  const char* text = ::dlerror();
  return text ? text : "cannot be loaded";
}

}  // namespace

Library::Library(std::initializer_list<std::string_view> names, const LibrarySearch& search) {
  for (const std::string_view name : names) {
    for (const std::string& directory : search.first)
      if (try_directory(directory, name)) return;
    m_found.error.clear();
    if (search.host_root.empty()) try_loader(std::string(name));
    for (const std::string_view directory : k_known_directories)
      if (!m_handle) try_directory(fmt::format("{}{}", search.host_root, directory), name);
    if (m_handle) return;
  }
  if (m_found.error.empty()) m_found.error = core::k_not_found;
}

// Whether there was an answer: the library, or why it cannot be loaded.
bool Library::try_directory(std::string_view directory, std::string_view name) {
  const std::string path = fmt::format("{}/{}", directory, name);
  if (directory.empty() || ::access(path.c_str(), F_OK) != 0) return false;
  const std::string real = real_path(path);
  if (is_stub(real)) {
    m_found.stub = real;
    return false;
  }
  return open(path) || !m_found.error.empty();
}

void Library::try_loader(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    // "libcuda.so.1: cannot open shared object file: ..." is the loader's way to say that there is none.
    const std::string error = loader_error();
    if (!error.starts_with(name + ": cannot open shared object file")) m_found.error = error;
    return;
  }
  const std::string real = path_of(handle);
  if (is_stub(real)) {
    m_found.stub = real;
    ::dlclose(handle);
    return;
  }
  m_handle = handle;
  m_found.path = real;
}

bool Library::open(const std::string& path) {
  m_handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!m_handle) {
    m_found.error = loader_error();
    return false;
  }
  m_found.error.clear();
  m_found.path = path_of(m_handle);
  return true;
}

void* Library::address(std::initializer_list<const char*> names) const {
  if (!m_handle) return nullptr;
  for (const char* name : names)
    if (void* found = ::dlsym(m_handle, name)) return found;
  return nullptr;
}

}  // namespace cudaenv::driver
