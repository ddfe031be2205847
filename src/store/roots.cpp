// SPDX-License-Identifier: Apache-2.0
#include "store/roots.hpp"

#include <pwd.h>
#include <unistd.h>

#include "core/problem_text.hpp"
#include "core/root_search.hpp"
#include "store/posix_system.hpp"
#include "store/problem.hpp"

namespace cudaenv::store {
namespace {

// The variables of the environment that was asked about, the files of this system.
class RootSystem : public PosixSystem {
 public:
  explicit RootSystem(const base::Environment& environment) : m_environment(environment) {}
  const char* variable(const char* name) const {
    const auto value = m_environment.get(name);
    return value ? value->data() : nullptr;  // the whole of a std::string, so it ends with a NUL
  }

 private:
  const base::Environment& m_environment;
};

// HOME, or the home of the password database where HOME says nothing usable.
std::string home_of(const base::Environment& environment) {
  std::string home(environment.value("HOME"));
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
  RootSystem system(environment);
  core::Roots found;
  const core::RootOutcome outcome = core::find_roots(system, {}, home_of(environment), found);
  if (outcome.status != core::RootStatus::found) {
    core::ProblemText text;
    core::describe_root_problem(outcome, text);
    return fail(to_error(ErrorKind::config, text));
  }
  Roots roots{Root{std::string(found.own.view())}, std::nullopt};
  if (!found.shared.view().empty()) roots.shared = Root{std::string(found.shared.view())};
  return roots;
}

}  // namespace cudaenv::store
