// SPDX-License-Identifier: Apache-2.0
#include "core/env_plan.hpp"

#include <algorithm>

#include "base/env_names.hpp"
#include "base/text.hpp"

namespace cudaenv::core {
namespace {

using base::Environment;

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// Whether cudaenv put the path into a variable: it lies in a toolkit of ours or is the library shims' directory.
bool is_ours(std::string_view path, const std::vector<std::string>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
    return is_below(path, root + "/versions") || path == root + "/shims/lib";
  });
}

// A path list with our former entries taken out and `first` put before the rest, `last` after it. An entry that the
// user has too is not doubled. The user's own empty elements stay, none is added.
std::string changed_list(std::string_view current, const std::vector<std::string>& first,
                         const std::vector<std::string>& last, const std::vector<std::string>& roots) {
  std::vector<std::string> elements = first;
  if (!current.empty()) {
    for (const std::string_view element : base::split(current, ':')) {
      const bool is_listed = std::find(first.begin(), first.end(), element) != first.end() ||
                             std::find(last.begin(), last.end(), element) != last.end();
      if (!is_ours(element, roots) && !is_listed) elements.emplace_back(element);
    }
  }
  elements.insert(elements.end(), last.begin(), last.end());
  return base::join(elements, ":");
}

class Planner {
 public:
  Planner(const Environment& current, const std::vector<std::string>& roots) : m_current(current), m_roots(roots) {}

  void set(std::string_view name, const std::string& value) {
    if (m_current.get(name) != std::string_view(value)) m_plan.changes.emplace_back(name, value);
  }

  void unset(std::string_view name) {
    if (m_current.get(name)) m_plan.changes.emplace_back(name, std::nullopt);
  }

  // Unsets a variable that names a place of ours; the user's own value stays.
  void unset_if_ours(std::string_view name) {
    if (is_ours(m_current.value(name), m_roots)) unset(name);
  }

  void list(std::string_view name, const std::vector<std::string>& first, const std::vector<std::string>& last = {}) {
    const std::optional<std::string_view> before = m_current.get(name);
    const std::string after = changed_list(before.value_or(""), first, last, m_roots);
    if (after.empty() && before && !before->empty())
      unset(name);  // it held nothing but entries of ours
    else if (before || !after.empty())
      set(name, after);
  }

  EnvPlan take() { return std::move(m_plan); }

 private:
  const Environment& m_current;
  const std::vector<std::string>& m_roots;
  EnvPlan m_plan;
};

std::vector<std::string> library_path(const ActiveToolkit& toolkit, const std::vector<std::string>& roots,
                                      const EnvironmentSettings& settings) {
  switch (settings.library_path) {
    case LibraryPath::toolkit: return {toolkit.directory + "/lib"};
    case LibraryPath::shims:
      if (settings.has_library_shims && !roots.empty()) return {roots.front() + "/shims/lib"};
      return {};
    case LibraryPath::none: return {};
  }
  return {};
}

}  // namespace

EnvPlan plan_environment(const Environment& current, const std::optional<ActiveToolkit>& toolkit,
                         const std::vector<std::string>& roots, const EnvironmentSettings& settings) {
  namespace names = env_names;
  Planner planner(current, roots);
  if (!toolkit) {
    for (const char* name : {names::k_cuda_home, names::k_cuda_path, names::k_cmake_root, names::k_cmake_compiler})
      planner.unset_if_ours(name);
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"}) planner.list(name, {});
    planner.unset(names::k_active);
    return planner.take();
  }
  const std::string& directory = toolkit->directory;
  for (const char* name : {names::k_cuda_home, names::k_cuda_path, names::k_cmake_root}) planner.set(name, directory);
  // CMake would store the shim as its compiler; the user's own choice of a compiler stays.
  const std::string_view compiler = current.value(names::k_cmake_compiler);
  if (toolkit->has_nvcc && (compiler.empty() || is_ours(compiler, roots)))
    planner.set(names::k_cmake_compiler, directory + "/bin/nvcc");
  else
    planner.unset_if_ours(names::k_cmake_compiler);
  planner.list("PATH", {directory + "/bin"});
  planner.list("LD_LIBRARY_PATH", library_path(*toolkit, roots, settings));
  std::vector<std::string> includes;
  std::vector<std::string> libraries;
  if (settings.compiler_paths) {
    includes = {directory + "/include"};
    if (settings.has_cccl_include) includes.push_back(directory + "/include/cccl");
    libraries = {directory + "/lib"};
  }
  planner.list("CPATH", includes);
  // The stubs come after all that the user has, so that a real driver library is found before them.
  planner.list("LIBRARY_PATH", libraries,
               libraries.empty() ? std::vector<std::string>() : std::vector<std::string>{directory + "/lib/stubs"});
  planner.set(names::k_active, toolkit->name);
  return planner.take();
}

void apply(const EnvPlan& plan, Environment& environment) {
  for (const auto& [name, value] : plan.changes) {
    if (value)
      environment.set(name, *value);
    else
      environment.unset(name);
  }
}

}  // namespace cudaenv::core
