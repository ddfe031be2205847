// SPDX-License-Identifier: Apache-2.0
#include "store/roots.hpp"

#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/root_search.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::store {
namespace {

// HOME, or the home of the password database where HOME says nothing usable.
std::string home_of(const base::Environment& environment) {
  const std::string home(environment.value("HOME"));
  if (core::is_plain_absolute_path(home)) return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry && entry->pw_dir ? entry->pw_dir : "";
}

}  // namespace

std::vector<const Root*> Roots::both() const {
  std::vector<const Root*> roots{&own};
  if (shared) roots.push_back(&*shared);
  return roots;
}

std::vector<std::string> Roots::both_paths() const {
  std::vector<std::string> paths;
  for (const Root* root : both()) paths.push_back(root->path.native());
  return paths;
}

core::Roots Roots::for_selection() const {
  core::Roots roots;
  roots.own.assign(own.path.native());
  if (shared) roots.shared.assign(shared->path.native());
  return roots;
}

Result<Roots> locate_roots(const base::Environment& environment) {
  PosixSystem system;
  core::Roots found;
  const core::RootOutcome outcome = core::find_roots(system, {}, home_of(environment), found);
  switch (outcome.status) {
    case core::RootStatus::found: break;
    case core::RootStatus::bad_variable:
      return fail(ErrorKind::config,
                  fmt::format("{} is \"{}\"", outcome.variable, base::escaped(outcome.value)),
                  fmt::format("export {}=/an/absolute/path", outcome.variable),
                  {"it must be an absolute path without control characters"});
    case core::RootStatus::no_home:
      return fail(ErrorKind::config, "there is no home directory to keep toolkits in",
                  "export CUDAENV_ROOT=/an/absolute/path");
  }
  Roots roots{Root{std::string(found.own.view())}, std::nullopt};
  if (!found.shared.view().empty()) roots.shared = Root{std::string(found.shared.view())};
  return roots;
}

}  // namespace cudaenv::store
