// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"
#include "store/cache.hpp"
#include "store/staging.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const PruneOptions& options, App& app) {
  const auto removal = options.dry_run ? store::Removal::pretended : store::Removal::real;
  CUDAENV_TRY(staging, store::remove_dead_staging(app.roots.own, {}, removal));
  CUDAENV_TRY(cache, store::remove_cached(app.roots.own, removal));
  for (const base::Path& link : cache.links)
    app.output.warning(fmt::format("{} is a link, and what it leads to is left alone", base::escaped(link.native())));
  if (cache.in_use > 0)
    app.output.note(fmt::format("{} {} in use by a running install", cache.in_use,
                                cache.in_use == 1 ? "archive is" : "archives are"));
  std::string text;
  const auto add = [&](const store::Removed& removed, std::string_view one, std::string_view many) {
    if (removed.count > 0)
      text += fmt::format("{:>10}  {} {}\n", base::human_size(removed.bytes), removed.count,
                          removed.count == 1 ? one : many);
  };
  add(cache.archives, "kept archive", "kept archives");
  add(cache.partials, "download that was not finished", "downloads that were not finished");
  add(staging, "directory of an install that was killed", "directories of installs that were killed");
  if (text.empty()) {
    app.output.note("there is nothing to remove");
    return ExitCode::done;
  }
  const std::uint64_t bytes = cache.archives.bytes + cache.partials.bytes + staging.bytes;
  app.output.data(
      fmt::format("{}{:>10}  {}\n", text, base::human_size(bytes), options.dry_run ? "would be free" : "freed"));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
