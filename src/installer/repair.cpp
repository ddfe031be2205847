// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "installer/changeable.hpp"
#include "installer/rebuild.hpp"
#include "installer/retyped.hpp"
#include "installer/sources.hpp"
#include "redist/verify_tree.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {
namespace {

// Nothing is done to a toolkit that is whole.
Result<void> repair(const std::optional<std::string>& typed, const RepairOptions& options, App& app) {
  CUDAENV_TRY(broken, installer::changeable_toolkit(app, typed, "cudaenv repair"));
  const std::string& name = broken.toolkit.name;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  CUDAENV_TRY(report, redist::compare_with_receipt(
                          broken.toolkit.directory, broken.receipt, threads, [] { return !base::is_interrupted(); },
                          [](std::uint64_t, std::uint64_t) {}));
  if (report.is_whole()) {
    app.output.note(fmt::format("CUDA {} is as it was installed: {} files, {}", name, report.file_count,
                                base::human_size(report.hashed)));
    return refresh_shims(app).map_error(stale_shims);
  }
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  app.output.note(fmt::format("repairing CUDA {}: {} of {} files are not as they were installed", name,
                              report.faulty_files(), report.file_count));
  installer::Change change;
  CUDAENV_TRY(bases, installer::open_sources(options.mirrors, settings, app));
  change.bases = std::move(bases);
  change.command = retyped(options, name);
  auto outcome = installer::rebuild(app, broken.toolkit, std::move(change));
  if (!outcome) return fail(std::move(outcome).error());
  CUDAENV_CHECK(refresh_shims(app).map_error(stale_shims));
  app.output.note(fmt::format("CUDA {} is whole again; {} fetched", name, base::human_size(outcome->fetched)));
  return {};
}

}  // namespace

Result<ExitCode> run(const RepairOptions& options, App& app) {
  base::catch_interrupts();
  if (options.versions.empty()) CUDAENV_CHECK(repair(std::nullopt, options, app));
  for (const std::string& typed : options.versions) CUDAENV_CHECK(repair(typed, options, app));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
