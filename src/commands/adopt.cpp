// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "commands/run.hpp"
#include "commands/toolkit_release.hpp"
#include "core/version_text.hpp"
#include "store/shims.hpp"
#include "store/staging.hpp"
#include "store/toolkits.hpp"

// An adopted toolkit is a link under versions, nothing else: the directory stays its owner's, and an update there is
// seen at once. Its name is its release where that can be told, so that a project's `12.8` finds it. Such a link leads
// to the real directory: /usr/local/cuda would lead to another release one day. Under a name of its own it leads where
// the user says.

namespace cudaenv::commands {
namespace {

Result<base::Path> checked_directory(const AdoptOptions& options, const App& app) {
  CUDAENV_TRY(here, base::working_directory(app.environment));
  const base::Path typed = here / options.directory;
  const std::string shown = base::escaped(typed.native());
  if (!base::directory_exists(typed)) return fail(ErrorKind::not_found, fmt::format("there is no directory {}", shown));
  std::error_code error;
  base::Path directory = typed.lexically_normal();
  // By its name only where that tells the truth: behind a link, `..` leads elsewhere.
  if (!std::filesystem::equivalent(directory, typed, error)) directory = std::filesystem::canonical(typed, error);
  if (directory.filename().empty()) directory = directory.parent_path();
  // nvcc.profile is what makes a directory a toolkit: /usr with an nvcc among thousands of programs is none.
  if (!base::executable_exists(directory / "bin" / "nvcc") || !base::path_exists(directory / "bin" / "nvcc.profile"))
    return fail(ErrorKind::not_found, fmt::format("{} is not a CUDA toolkit", shown),
                "cudaenv adopt /usr/local/cuda-12.8", {"it has no bin/nvcc with an nvcc.profile beside it"});
  if (base::directory_exists(directory / "conda-meta"))
    return fail(ErrorKind::usage, fmt::format("{} is a conda environment, whose bin holds other programs too", shown),
                {}, {fmt::format("to use its toolkit: conda activate {}", shown)});
  const base::Path real = std::filesystem::canonical(directory, error);
  const base::Path holder =
      std::filesystem::canonical(directory.parent_path(), error);  // an adopted one is a link there
  for (const store::Root* root : app.roots.both()) {
    const base::Path versions = std::filesystem::weakly_canonical(root->versions(), error);
    if (real.native().starts_with(versions.native() + "/") || holder == versions)
      return fail(ErrorKind::usage, fmt::format("{} is a toolkit of cudaenv already", shown), "cudaenv versions");
  }
  return options.name.empty() ? real : directory;
}

Result<std::string> chosen_name(const AdoptOptions& options, const base::Path& directory, App& app) {
  if (!options.name.empty()) {
    const auto spec = core::parse_spec(options.name);
    if (core::parse_version(options.name) || (spec && spec->kind == core::SpecKind::name)) return options.name;
    return fail(ErrorKind::usage, fmt::format("\"{}\" cannot be a toolkit's name", base::escaped(options.name)),
                fmt::format("cudaenv adopt {} --name distro", base::escaped(options.directory)),
                {"expected a letter, then letters, digits, '.', '_', '+' or '-', and nothing that reads as a version; "
                 "or a whole release such as 12.8.1"});
  }
  if (const auto release = release_in(directory, app.facts.registry())) return core::to_text(*release);
  return fail(ErrorKind::not_found, fmt::format("cannot tell which release {} is", base::escaped(directory.native())),
              fmt::format("cudaenv adopt {} --name NAME", base::escaped(options.directory)));
}

bool is_dangling(const base::Path& link) {
  return base::entry_kind(link) == base::EntryKind::link && !base::path_exists(link / "bin");
}

// A link that leads nowhere any more is replaced in one step; whatever else has the name stays.
Result<void> make_toolkit_link(const base::Path& directory, const std::string& name, const App& app) {
  const base::Path link = app.roots.own.toolkit(name);
  CUDAENV_CHECK(base::make_directories(app.roots.own.versions()));
  if (!is_dangling(link)) return base::make_link(directory, link);
  CUDAENV_TRY(staging, store::Staging::create(app.roots.own, name));
  CUDAENV_CHECK(base::make_link(directory, staging.path() / name));
  return base::rename_path(staging.path() / name, link);
}

}  // namespace

Result<ExitCode> run(const AdoptOptions& options, App& app) {
  CUDAENV_TRY(directory, checked_directory(options, app));
  CUDAENV_TRY(name, chosen_name(options, directory, app));
  CUDAENV_TRY(known, store::find_toolkit(app.roots, name));
  const base::Path link = app.roots.own.toolkit(name);
  if (known && known->adopted_from == directory) {
    app.output.note(fmt::format("{} is adopted as {} already", base::escaped(directory.native()), name));
    CUDAENV_CHECK(refresh_shims(app).map_error(stale_shims));
    return ExitCode::done;
  }
  if (base::entry_kind(link) != base::EntryKind::absent && !is_dangling(link))
    return fail(ErrorKind::usage, fmt::format("there is a toolkit called {} already", name),
                fmt::format("cudaenv adopt {} --name NAME", base::escaped(options.directory)));
  CUDAENV_CHECK(store::check_shim_program(app.shim_program));
  CUDAENV_CHECK(make_toolkit_link(directory, name, app));
  if (auto refreshed = refresh_shims(app); !refreshed)
    return fail(stale_shims(std::move(refreshed).error()).during(fmt::format("{} is adopted all the same", name)));
  CUDAENV_TRY(forcing, foretell(app, {core::parse_version(name) ? "CUDA " + name : "toolkit " + name,
                                      release_in(directory, app.facts.registry()),
                                      {}}));
  app.output.note(fmt::format("{} is adopted as {}; to use it here: cudaenv local {}{}",
                              base::escaped(directory.native()), name, name, forcing));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
