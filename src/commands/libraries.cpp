// SPDX-License-Identifier: Apache-2.0
#include "commands/libraries.hpp"

#include <string>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "core/library_problem.hpp"
#include "core/library_shim.hpp"
#include "core/loader_cache.hpp"
#include "core/selection_problem.hpp"
#include "store/problem.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

// Of a toolkit; empty if it has none. The places are those where a library shim looks.
base::Path library_in(const base::Path& toolkit, std::string_view soname) {
  for (const std::string_view place : core::k_library_places)
    if (base::Path path(toolkit.native() + std::string(place) + std::string(soname)); base::path_exists(path))
      return path;
  return {};
}

// The library of the same stem that a toolkit has, under its SONAME; empty if there is none.
std::string provided_by(const base::Path& toolkit, std::string_view soname) {
  const std::string start = std::string(core::library_stem(soname)) + ".so.";
  for (const std::string_view place : core::k_library_places) {
    std::string provided;
    const auto names = base::list_directory(toolkit.native() + std::string(place));
    if (!names) continue;
    for (const std::string& name : *names)
      if (name.starts_with(start) && (provided.empty() || name.size() < provided.size())) provided = name;
    if (!provided.empty()) return provided;
  }
  return {};
}

// As if no library shim were there; empty if the loader finds none.
base::Path library_of_system(const App& app, std::string_view soname) {
  const std::string host(app.environment.value(env_names::k_host_root));
  const std::string_view list = app.environment.value("LD_LIBRARY_PATH");
  for (const std::string_view directory : base::split(list, ':')) {
    bool is_ours = directory.empty();
    for (const store::Root* root : app.roots.both()) is_ours = is_ours || root->library_shims() == directory;
    if (base::Path path = base::Path(directory) / soname; !is_ours && base::path_exists(path)) return path;
  }
  base::Path path;
  const auto is_there = [&](std::string_view found) {
    path = found;
    return base::path_exists(path);
  };
  if (const auto cache = base::read_file(host + "/etc/ld.so.cache", core::LoaderCache::k_largest); cache && *cache)
    if (core::LoaderCache(**cache).find(soname, is_there)) return path;
  for (const std::string_view place : core::k_usual_library_places)
    if (is_there(host + std::string(place) + std::string(soname))) return path;
  return {};
}

}  // namespace

bool is_library_name(std::string_view name) { return name.find(".so.") != std::string_view::npos; }

Result<base::Path> find_library(const App& app, const store::Selected& selected, std::string_view soname) {
  base::Path path = selected.is_toolkit() ? library_in(selected.directory, soname) : library_of_system(app, soname);
  if (!path.empty()) return path;
  core::ToolkitList having;
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  for (const store::Toolkit& toolkit : toolkits)
    if (!library_in(toolkit.directory, soname).empty()) having.add(toolkit.name);
  const std::string provided = selected.is_toolkit() ? provided_by(selected.directory, soname) : std::string();
  core::ProblemText text;
  core::describe_missing_library(selected.view(), soname, provided, having, text);
  return fail(store::to_error(ErrorKind::not_found, text));
}

}  // namespace cudaenv::commands
