// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "store/in_use.hpp"
#include "store/shims.hpp"
#include "store/staging.hpp"
#include "store/toolkits.hpp"

// The tree is moved out of sight in one step and removed afterwards, so that a half-removed toolkit is never seen. A
// running nvcc starts its helpers out of the tree as it goes on, so it is waited for.

namespace cudaenv::commands {
namespace {

Result<store::Toolkit> to_remove(const std::string& typed, App& app) {
  CUDAENV_TRY(spec, parse_typed_spec(typed));
  CUDAENV_TRY(toolkits, store::registered_toolkits(app.roots));
  const bool is_exact = spec.kind == core::SpecKind::name || spec.given == 3;
  const std::string name = spec.kind == core::SpecKind::number ? core::to_text(spec.version) : typed;
  std::vector<std::string> near;
  for (const store::Toolkit& toolkit : toolkits) {
    if (is_exact && toolkit.name == name) {
      if (!toolkit.is_shared) return toolkit;
      const std::string shared = base::escaped(app.roots.shared->path.native());
      return fail(ErrorKind::filesystem, fmt::format("{} is in the shared root {}", name, shared),
                  fmt::format("CUDAENV_ROOT={} cudaenv uninstall {}", shared, name));
    }
    if (spec.kind == core::SpecKind::number && toolkit.release && spec.matches(*toolkit.release))
      near.push_back(toolkit.name);
  }
  // Removing needs the whole number: `uninstall 12` must not take what happens to be the newest.
  Error error{is_exact ? ErrorKind::not_installed : ErrorKind::usage,
              is_exact ? fmt::format("{} is not installed", name)
                       : fmt::format("uninstall needs a whole version or a name, not \"{}\"", typed),
              near.size() == 1 ? "cudaenv uninstall " + near.front() : "cudaenv versions"};
  if (near.size() > 1) error.details.push_back(fmt::format("installed: {}", base::join(near, ", ")));
  return fail(std::move(error));
}

std::string text_of(const store::UsingProcess& process) {
  return fmt::format("process {} ({})", process.id, base::escaped(process.name));
}

// Who runs a program of the toolkit. An error if it waits for this command in its turn.
Result<std::optional<store::UsingProcess>> user_of(const store::Toolkit& toolkit) {
  auto process = store::process_using(toolkit.directory);
  if (process && process->is_ancestor)
    return fail(ErrorKind::usage,
                fmt::format("{}, which runs from {}, has started this uninstall", text_of(*process), toolkit.name), {},
                {"each would wait for the other: end that program first"});
  return process;
}

Result<void> wait_until_unused(const store::Toolkit& toolkit, App& app) {
  bool is_told = false;
  while (true) {
    CUDAENV_TRY(process, user_of(toolkit));
    if (!process) return {};
    if (base::is_interrupted()) return fail(base::interrupted_error());
    if (!is_told)
      app.output.waiting(fmt::format("waiting for {}, which runs from {}; Ctrl-C stops and keeps the toolkit",
                                     text_of(*process), toolkit.name));
    is_told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Result<void> remove_link(const store::Toolkit& toolkit, App& app) {
  if (::unlink(toolkit.directory.c_str()) != 0 && errno != ENOENT)
    return fail(base::file_error("remove", toolkit.directory, errno));
  return refresh_shims(app).map_error(stale_shims);
}

Result<void> remove_tree(const store::Toolkit& toolkit, App& app) {
  CUDAENV_TRY(dead, store::remove_dead_staging(app.roots.own));
  (void)dead;
  auto lock = store::lock_toolkit(app.roots.own, toolkit.name, [&](long process) {
    app.output.waiting(fmt::format("waiting for process {}, which works on {}", process, toolkit.name));
  });
  if (!lock) return fail(std::move(lock).error());
  if (base::entry_kind(toolkit.directory) == base::EntryKind::absent) return {};  // another one has removed it
  CUDAENV_CHECK(wait_until_unused(toolkit, app));
  CUDAENV_TRY(staging, store::Staging::create(app.roots.own, toolkit.name));
  CUDAENV_CHECK(store::take_away(app.roots.own, toolkit.name, staging));
  CUDAENV_CHECK(refresh_shims(app).map_error(stale_shims));
  return base::remove_tree(staging.path() / "removed");
}

Result<void> remove(const store::Toolkit& toolkit, App& app) {
  if (base::is_interrupted()) return fail(base::interrupted_error());
  return toolkit.adopted_from ? remove_link(toolkit, app) : remove_tree(toolkit, app);
}

// Which toolkits are gone and which are not, now that the work has stopped half-way.
std::string outcome(const std::vector<store::Toolkit>& toolkits) {
  std::vector<std::string> texts;
  for (const store::Toolkit& toolkit : toolkits) {
    const bool is_gone = base::entry_kind(toolkit.directory) == base::EntryKind::absent;
    texts.push_back(fmt::format("{} {}", toolkit.name, is_gone ? "was removed" : "is untouched"));
  }
  return base::join(texts, "; ");
}

}  // namespace

Result<ExitCode> run(const UninstallOptions& options, App& app) {
  // All are checked before the first is removed.
  std::vector<store::Toolkit> toolkits;
  for (const std::string& typed : options.versions) {
    CUDAENV_TRY(toolkit, to_remove(typed, app));
    if (!toolkit.adopted_from) CUDAENV_CHECK(user_of(toolkit));
    const bool is_there = std::any_of(toolkits.begin(), toolkits.end(),
                                      [&](const store::Toolkit& other) { return other.name == toolkit.name; });
    if (!is_there) toolkits.push_back(std::move(toolkit));
  }
  CUDAENV_CHECK(store::check_shim_program(app.shim_program));
  base::catch_interrupts();
  for (const store::Toolkit& toolkit : toolkits)
    if (auto removed = remove(toolkit, app); !removed)
      return fail(std::move(removed).error().during(outcome(toolkits)));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
