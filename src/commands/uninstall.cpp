// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <chrono>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "store/staging.hpp"
#include "store/toolkits.hpp"

// The tree is moved out of sight in one step and removed afterwards, so that a half-removed toolkit is never seen. A
// running nvcc starts its helpers out of the tree as it goes on, so it is waited for.

namespace cudaenv::commands {
namespace {

// A process of this machine that runs a program of the toolkit; 0 if there is none (that we may see).
long process_using(const base::Path& directory) {
  const auto entries = base::list_directory("/proc");
  if (!entries) return 0;
  std::error_code error;
  const base::Path real = std::filesystem::canonical(directory, error);
  if (error) return 0;
  for (const std::string& entry : *entries) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto program = base::link_target(base::Path("/proc") / entry / "exe");
    if (program && program->native().starts_with(real.native() + "/")) return std::stol(entry);
  }
  return 0;
}

Result<store::Toolkit> to_remove(const std::string& typed, App& app) {
  CUDAENV_TRY(spec, parse_typed_spec(typed));
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  const bool is_exact = spec.kind == core::SpecKind::name || spec.given == 3;
  const std::string name = spec.kind == core::SpecKind::number ? core::to_text(spec.version) : typed;
  std::vector<std::string> near;
  for (const store::Toolkit& toolkit : toolkits) {
    if (is_exact && toolkit.name == name) {
      if (!toolkit.is_shared) return toolkit;
      return fail(ErrorKind::filesystem,
                  fmt::format("{} is in the shared root {}", name, app.roots.shared->path.native()),
                  fmt::format("CUDAENV_ROOT={} cudaenv uninstall {}", app.roots.shared->path.native(), name));
    }
    if (spec.kind == core::SpecKind::number && toolkit.release && spec.matches(*toolkit.release))
      near.push_back(toolkit.name);
  }
  // Removing needs the whole number: `uninstall 12` must not take what happens to be the newest.
  Error error{is_exact ? ErrorKind::not_installed : ErrorKind::usage,
              is_exact ? fmt::format("{} is not installed", name)
                       : fmt::format("uninstall needs a whole version or a name, not \"{}\"", typed),
              near.empty() ? "cudaenv versions" : "cudaenv uninstall " + near.back()};
  if (near.size() > 1) error.details.push_back(fmt::format("installed: {}", base::join(near, ", ")));
  return fail(std::move(error));
}

Result<void> wait_until_unused(const store::Toolkit& toolkit, App& app) {
  bool is_told = false;
  while (const long process = process_using(toolkit.directory)) {
    if (base::is_interrupted()) return fail(base::interrupted_error());
    if (!is_told) app.output.note(fmt::format("waiting for process {}, which uses {}", process, toolkit.name));
    is_told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return {};
}

Result<void> remove(const store::Toolkit& toolkit, App& app) {
  if (toolkit.adopted_from) {
    if (::unlink(toolkit.directory.c_str()) != 0 && errno != ENOENT)
      return fail(base::file_error("remove", toolkit.directory, errno));
    return refresh_shims(app);
  }
  CUDAENV_TRY(dead, store::remove_dead_staging(app.roots.own));
  (void)dead;
  auto lock = store::lock_toolkit(app.roots.own, toolkit.name, [&](long process) {
    app.output.note(fmt::format("waiting for process {}, which works on {}", process, toolkit.name));
  });
  if (!lock) return fail(std::move(lock).error());
  if (base::entry_kind(toolkit.directory) == base::EntryKind::absent) return {};  // another one has removed it
  CUDAENV_CHECK(wait_until_unused(toolkit, app));
  CUDAENV_TRY(staging, store::Staging::create(app.roots.own, toolkit.name));
  CUDAENV_CHECK(base::rename_path(toolkit.directory, staging.path() / "removed"));
  CUDAENV_CHECK(refresh_shims(app));
  return base::remove_tree(staging.path() / "removed");
}

}  // namespace

Result<ExitCode> run(const UninstallOptions& options, App& app) {
  std::vector<store::Toolkit> toolkits;
  for (const std::string& typed : options.versions) {
    CUDAENV_TRY(toolkit, to_remove(typed, app));  // all are checked before the first is removed
    toolkits.push_back(std::move(toolkit));
  }
  base::catch_interrupts();
  for (const store::Toolkit& toolkit : toolkits) CUDAENV_CHECK(remove(toolkit, app));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
