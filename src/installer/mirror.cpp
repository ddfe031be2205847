// SPDX-License-Identifier: Apache-2.0
// `mirror`: fetches releases into a directory that serves as a base itself. First all manifests are read and what is in
// the directory is compared with them, so that room and contradictions are known before anything is fetched. Then each
// release: its archives, and only when all of them are there its manifest, so that no release is ever listed before it
// can be installed.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/file_lock.hpp"
#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "installer/chosen.hpp"
#include "installer/fetch_progress.hpp"
#include "installer/mirror_directory.hpp"
#include "installer/mirror_verify.hpp"
#include "installer/retold.hpp"
#include "installer/sources.hpp"
#include "redist/held_archives.hpp"
#include "shell/quote.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {
namespace {

using installer::MirrorDirectory;
using redist::ArchiveJob;

struct Amount {
  std::size_t archives = 0;
  std::uint64_t bytes = 0;

  void add(const ArchiveJob& job) {
    ++archives;
    bytes += job.archive.size;
  }
  std::string text() const {
    return fmt::format("{} archive{}, {}", archives, archives == 1 ? "" : "s", base::human_size(bytes));
  }
};

// One release that is to be in the mirror.
struct Wanted {
  installer::Offer offer;
  std::vector<redist::Source> sources;
  std::vector<std::string> platforms;
  std::vector<ArchiveJob> missing;  // without those that a release before it brings
  Amount all;

  std::string title() const {
    return fmt::format("CUDA {} for {}", core::to_text(offer.release), base::join(platforms, ", "));
  }
};

class Mirroring {
 public:
  Mirroring(const MirrorOptions& options, App& app, MirrorDirectory mirror)
      : m_options(options), m_app(app), m_mirror(std::move(mirror)) {}

  Result<ExitCode> run() {
    CUDAENV_CHECK(choose());
    if (m_options.dry_run) {
      CUDAENV_CHECK(compare());
      print_plan();
      return ExitCode::done;
    }
    CUDAENV_TRY(created, base::make_directories(m_mirror.path()));
    (void)created;
    CUDAENV_TRY(lock, base::FileLock::acquire(
                          m_mirror.path() / ".cudaenv-lock",
                          [&](long process) {
                            m_app.output.waiting(
                                fmt::format("waiting for process {}, which fills the same directory", process));
                          },
                          k_wait_seconds));
    (void)lock;
    CUDAENV_CHECK(compare());
    CUDAENV_CHECK(check_room());
    CUDAENV_CHECK(fetch());
    tell_done();
    return ExitCode::done;
  }

 private:
  static constexpr int k_wait_seconds = 24 * 60 * 60;

  Result<core::ComponentChoice> choice() const {
    core::ComponentChoice choice{core::Profile::standard, m_options.with, m_options.without};
    if (m_options.profile.empty()) return choice;
    CUDAENV_TRY(profile, installer::typed_profile(m_options.profile, "cudaenv help mirror"));
    choice.profile = profile;
    return choice;
  }

  Result<std::vector<redist::Source>> open_sources(const store::Settings& settings) const {
    CUDAENV_TRY(sources, installer::open_sources(m_options.mirrors, settings, m_app));
    for (const redist::Source& source : sources) {
      std::error_code ignored;
      if (source.location.is_directory() &&
          std::filesystem::equivalent(source.location.directory, m_mirror.path(), ignored))
        return fail(ErrorKind::usage, fmt::format("{} cannot be filled from itself", m_mirror.shown()),
                    "cudaenv help mirror");
    }
    return std::move(sources);
  }

  // Which releases, from where, and which archives of them.
  Result<void> choose() {
    CUDAENV_TRY(settings, store::load_settings(m_app.roots, m_app.environment, std::nullopt));
    for (const std::string& warning : settings.warnings()) m_app.output.warning(warning);
    CUDAENV_TRY(choice, this->choice());
    const redist::AcceptedManifest accepted = installer::accepted_manifest(m_options.accept_manifest, m_app);
    for (const std::string& text : m_options.specs) {
      CUDAENV_TRY(spec, parse_typed_spec(text));
      CUDAENV_TRY(sources, open_sources(settings));
      CUDAENV_TRY(offer, installer::chosen_offer(sources, spec, accepted, m_app));
      const auto is_same = [&](const Wanted& other) { return other.offer.release == offer.release; };
      if (std::any_of(m_wanted.begin(), m_wanted.end(), is_same)) continue;
      m_wanted.push_back({std::move(offer), std::move(sources), {}, {}, {}});
      CUDAENV_CHECK(plan(m_wanted.back(), choice));
    }
    return {};
  }

  Result<void> plan(Wanted& wanted, const core::ComponentChoice& choice) {
    CUDAENV_TRY(plans, installer::plan_platforms(wanted.offer, choice, m_options.platforms, m_app));
    for (const installer::PlatformPlan& planned : plans) {
      wanted.platforms.push_back(planned.platform);
      for (const core::PlannedComponent& component : planned.plan.components) {
        CUDAENV_TRY(job, m_mirror.job(component.component->name, component.archive));
        wanted.all.add(job);
        const auto [at, is_new] = m_digests.emplace(component.archive.relative_path, component.archive.sha256);
        if (is_new)
          wanted.missing.push_back(std::move(job));
        else if (at->second != component.archive.sha256)
          return fail(ErrorKind::integrity, fmt::format("two of these releases have different archives at {}",
                                                        base::escaped(component.archive.relative_path)));
      }
    }
    installer::tell_left_out(m_app.output, plans.front().plan, choice.profile, "mirrored");
    return {};
  }

  // Leaves in `missing` what is not there as it should be.
  Result<void> compare() {
    for (Wanted& wanted : m_wanted) {
      CUDAENV_TRY(held, redist::examine(wanted.missing));
      std::vector<ArchiveJob> missing;
      for (std::size_t i = 0; i < held.size(); ++i) {
        ArchiveJob& job = wanted.missing[i];
        if (held[i].holding == redist::Holding::whole) {
          m_there.add(job);
          continue;
        }
        if (held[i].holding == redist::Holding::damaged)
          m_app.output.warning(
              fmt::format("{} is damaged ({}) and is fetched anew", base::escaped(job.to.native()), held[i].damage));
        m_to_fetch.add(job);
        missing.push_back(std::move(job));
      }
      wanted.missing = std::move(missing);
    }
    return {};
  }

  void print_plan() {
    for (const Wanted& wanted : m_wanted) {
      m_app.output.data(
          fmt::format("{} from {}: {}\n", wanted.title(), wanted.sources.front().location.shown(), wanted.all.text()));
      for (const ArchiveJob& job : wanted.missing)
        m_app.output.data(fmt::format("  {:>10}  {}\n", base::human_size(job.archive.size),
                                      base::escaped(job.archive.relative_path)));
    }
    m_app.output.data(fmt::format("to fetch: {}; there already: {}\n", m_to_fetch.text(), m_there.text()));
  }

  Result<void> check_room() {
    CUDAENV_TRY(free, base::free_space(m_mirror.path()));
    if (free >= m_to_fetch.bytes) return {};
    return fail(ErrorKind::filesystem, fmt::format("not enough space in {}", m_mirror.shown()),
                fmt::format("df -h {}", m_mirror.shown()),
                {fmt::format("needed: {}, free: {}", base::human_size(m_to_fetch.bytes), base::human_size(free))});
  }

  Result<void> fetch() {
    if (m_to_fetch.archives > 0) {
      m_app.output.note(fmt::format("fetching {} from {} into {}", m_to_fetch.text(),
                                    m_wanted.front().sources.front().location.shown(), m_mirror.shown()));
      m_app.output.note(fmt::format("NVIDIA's licence applies to what is fetched: {}", installer::k_licence));
    }
    installer::FetchProgress progress(m_app.output, m_to_fetch.archives, m_to_fetch.bytes);
    for (Wanted& wanted : m_wanted) {
      for (const ArchiveJob& job : wanted.missing) {
        CUDAENV_TRY(created, base::make_directories(job.to.parent_path()));
        (void)created;
      }
      auto fetched = redist::fetch_all(wanted.sources, wanted.missing, progress);
      if (!fetched && fetched.error().kind == ErrorKind::interrupted)
        return fail(std::move(fetched).error().during("what has arrived stays; the same command goes on from there"));
      if (!fetched) return fail(std::move(fetched).error());
      CUDAENV_CHECK(m_mirror.place_manifest(wanted.offer.release, wanted.offer.manifest.text));
    }
    return m_mirror.refresh_index();
  }

  void tell_done() {
    std::vector<std::string> titles;
    for (const Wanted& wanted : m_wanted) titles.push_back(wanted.title());
    const std::string what = base::join(titles, "; ");
    if (m_to_fetch.archives == 0)
      m_app.output.note(fmt::format("nothing to fetch: {} has {} ({})", m_mirror.shown(), what, m_there.text()));
    else
      m_app.output.note(fmt::format("{} has {}: {} fetched; there already: {}", m_mirror.shown(), what,
                                    m_to_fetch.text(), m_there.text()));
    m_app.output.note(fmt::format("to install from it: cudaenv install {} --mirror {}",
                                  core::to_text(m_wanted.front().offer.release),
                                  base::escaped(shell::word(m_mirror.path().native()))));
  }

  const MirrorOptions& m_options;
  App& m_app;
  const MirrorDirectory m_mirror;
  std::vector<Wanted> m_wanted;
  std::map<std::string, std::string> m_digests;  // by path, of all that is wanted
  Amount m_to_fetch;
  Amount m_there;
};

Result<ExitCode> mirror(const MirrorOptions& options, App& app) {
  CUDAENV_TRY(here, base::working_directory(app.environment));
  MirrorDirectory directory((here / options.directory).lexically_normal());
  if (options.verify) {
    if (!options.specs.empty() || options.dry_run)
      return fail(ErrorKind::usage, "--verify takes the directory and nothing else",
                  fmt::format("cudaenv mirror {} --verify", directory.shown()));
    if (!base::directory_exists(directory.path()))
      return fail(ErrorKind::not_found, fmt::format("there is no directory {}", directory.shown()));
    CUDAENV_CHECK(installer::verify_mirror(directory, installer::accepted_manifest(options.accept_manifest, app), app));
    return ExitCode::done;
  }
  if (options.specs.empty())
    return fail(ErrorKind::usage, "mirror: no release was given",
                fmt::format("cudaenv mirror {} 12.8", directory.shown()));
  return Mirroring(options, app, std::move(directory)).run();
}

}  // namespace

Result<ExitCode> run(const MirrorOptions& options, App& app) {
  base::catch_interrupts();
  auto done = mirror(options, app);
  if (done) return done;
  std::string specs;
  for (const std::string& spec : options.specs) specs += " " + base::escaped(shell::word(spec));
  const std::string verb = "cudaenv mirror " + base::escaped(shell::word(options.directory));
  return fail(installer::retold(std::move(done).error(), verb, specs, options));
}

}  // namespace cudaenv::commands
