// SPDX-License-Identifier: Apache-2.0
#include "redist/installer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "core/platform.hpp"
#include "core/selection_types.hpp"
#include "core/version_text.hpp"
#include "redist/archive.hpp"
#include "redist/merge.hpp"
#include "store/staging.hpp"
#include "store/toolkits.hpp"

// In the order of what may fail most cheaply: lock, room, then for each component download, check, unpack, merge; then
// the layout, the receipt, one sync of the file system, one rename. Everything until then happens in a staging
// directory that goes with this process.

namespace cudaenv::redist {
namespace {

// A lower bound on how much larger a toolkit is than its archives: xz packs its libraries to a third or less (measured:
// 3.1 for a compiler packed at the lowest level). Refusing what would have fitted is worse than failing later.
constexpr std::uint64_t k_least_unpack_factor = 3;
constexpr std::chrono::milliseconds k_between_snapshots{100};

using Clock = std::chrono::steady_clock;

Result<void> check_room(const core::ComponentPlan& plan, const InstallRequest& request, const store::Root& root) {
  std::uint64_t largest = 0;
  for (const core::PlannedComponent& planned : plan.components) largest = std::max(largest, planned.archive.size);
  const std::uint64_t needed = largest + plan.download_size() * k_least_unpack_factor;
  CUDAENV_TRY(free, base::free_space(root.versions()));
  if (free >= needed) return {};
  return fail(ErrorKind::filesystem, fmt::format("not enough space in {}", base::escaped(root.versions().native())),
              request.choice.profile == core::Profile::minimal
                  ? "export CUDAENV_ROOT=DIRECTORY"
                  : fmt::format("cudaenv install {} --profile minimal", core::to_text(request.release)),
              {fmt::format("needed: at least {}, free: {}", base::human_size(needed), base::human_size(free)),
               "a smaller profile needs less; CUDAENV_ROOT names another place"});
}

std::string now_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())); }

Result<void> sync_file_system(const base::Path& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::syncfs(*fd) != 0) return fail(base::file_error("sync", path, errno));
  return {};
}

Result<void> make_directory(const base::Path& path) {
  if (::mkdir(path.c_str(), 0755) != 0) return fail(base::file_error("create", path, errno));
  (void)::chmod(path.c_str(), 0755);
  return {};
}

// One installation under way.
class Installation {
 public:
  Installation(std::vector<Source> sources, const core::ComponentPlan& plan, const InstallRequest& request,
               const base::Path& staging, InstallObserver& observer)
      : m_sources(std::move(sources)),
        m_base(m_sources.front().location.shown()),
        m_plan(plan),
        m_request(request),
        m_staging(staging),
        m_tree(staging / "toolkit"),
        m_observer(observer),
        m_merger(m_tree, core::target_directory(request.platform), request.command) {
    m_progress.count = plan.components.size();
    m_progress.to_fetch = m_progress.total = plan.download_size();
  }

  // Leaves the finished tree, receipt included, at tree().
  Result<InstallOutcome> build() {
    for (const base::Path& directory : {m_tree, m_staging / "archives", m_staging / "unpacked"})
      CUDAENV_CHECK(make_directory(directory));
    for (const core::PlannedComponent& planned : m_plan.components) CUDAENV_CHECK(add(planned));
    const bool expects_compiler = m_plan.find("cuda_nvcc") && m_request.choice.without.empty();
    CUDAENV_CHECK(m_merger.finish(m_request.release, m_plan,
                                  expects_compiler ? TreeMerger::ExpectCompiler::yes : TreeMerger::ExpectCompiler::no));
    const store::Receipt receipt = make_receipt();
    InstallOutcome outcome;
    outcome.file_count = receipt.files.size();
    for (const store::ReceiptFile& file : receipt.files) outcome.installed_size += file.size;
    CUDAENV_CHECK(base::write_file(m_tree / core::k_receipt_name, to_json(receipt), 0644, base::Durable::no));
    CUDAENV_CHECK(sync_file_system(m_tree));
    return outcome;
  }

  const base::Path& tree() const { return m_tree; }

 private:
  Result<void> add(const core::PlannedComponent& planned) {
    const std::string& name = planned.component->name;
    // In a directory each, so that no name out of a manifest meets one of ours.
    const base::Path archive = m_staging / "archives" / base::Path(planned.archive.relative_path).filename();
    const base::Path unpacked = m_staging / "unpacked" / name;
    m_progress.running = {{&planned}};
    tell();
    CUDAENV_CHECK(fetch(planned, archive));
    tell();
    CUDAENV_CHECK(make_directory(unpacked));
    CUDAENV_TRY(entries, unpack(archive, unpacked, [] { return !base::is_interrupted(); }));
    CUDAENV_CHECK(m_merger.add(planned, entries, unpacked));
    CUDAENV_CHECK(base::remove_tree(unpacked));
    CUDAENV_CHECK(base::remove_tree(archive));
    m_progress.running.clear();
    m_progress.unpacked += planned.archive.size;
    ++m_progress.finished;
    tell();
    m_observer.finished(planned, ComponentOrigin::fetched);
    return {};
  }

  // That many bytes of the component under way are here.
  void received(std::uint64_t bytes) {
    std::uint64_t& known = m_progress.running.front().received;
    m_progress.received += bytes - known;
    known = bytes;
    if (Clock::now() - m_last_told >= k_between_snapshots) tell();
  }

  void tell() {
    m_last_told = Clock::now();
    m_observer.progressed(m_progress);
  }

  // From the first base that has it. One that is down is not asked again; one that lacks it is, for the others.
  Result<void> fetch(const core::PlannedComponent& planned, const base::Path& to) {
    const Progress progress = [&](std::uint64_t bytes) {
      received(bytes);
      return !base::is_interrupted();
    };
    for (std::size_t at = 0;;) {
      auto fetched = fetch_archive(m_sources[at], planned.archive, planned.component->name, to, progress);
      if (fetched) return {};
      Error error = std::move(fetched).error();
      const bool has_other = error.kind != ErrorKind::interrupted && has_next(at);
      if (base::is_interrupted()) return fail(base::interrupted_error());
      const bool is_down = error.kind == ErrorKind::network;
      if ((!is_down && error.kind != ErrorKind::not_found) || !has_other) {
        if (error.kind == ErrorKind::integrity) error.hint = m_request.command;
        return fail(std::move(error));
      }
      m_observer.switching(error);
      if (is_down) {
        m_sources.erase(m_sources.begin() + static_cast<std::ptrdiff_t>(at));
        --m_compared;
      } else {
        ++at;
      }
    }
  }

  // Whether there is a base behind that one. Those that do not have the manifest are left out.
  bool has_next(std::size_t at) {
    while (m_compared == at + 1 && m_compared < m_sources.size() && !base::is_interrupted()) {
      if (has_manifest(m_sources[m_compared], m_request.release, m_request.manifest_sha256))
        ++m_compared;
      else
        m_sources.erase(m_sources.begin() + static_cast<std::ptrdiff_t>(m_compared));
    }
    return at + 1 < m_compared;
  }

  store::Receipt make_receipt() {
    store::Receipt receipt;
    receipt.release = m_request.release;
    receipt.platform = m_request.platform;
    receipt.profile = core::to_text(m_request.choice.profile);
    receipt.with = m_request.choice.with;
    receipt.without = m_request.choice.without;
    receipt.source = m_base;
    receipt.manifest_sha256 = m_request.manifest_sha256;
    receipt.installed = now_utc();
    for (const core::PlannedComponent& planned : m_plan.components) {
      const core::Component& component = *planned.component;
      receipt.components.push_back({component.name, component.version, component.license,
                                    m_merger.license_digest(component.name), planned.archive.relative_path,
                                    planned.archive.sha256, planned.archive.size});
    }
    receipt.files = m_merger.take_files();
    return receipt;
  }

  std::vector<Source> m_sources;  // never empty
  std::size_t m_compared = 1;     // so many of them are known to have the manifest
  const std::string m_base;       // that the manifest came from
  const core::ComponentPlan& m_plan;
  const InstallRequest& m_request;
  const base::Path m_staging;
  const base::Path m_tree;
  InstallObserver& m_observer;
  InstallProgress m_progress;
  Clock::time_point m_last_told;
  TreeMerger m_merger;
};

}  // namespace

Result<InstallOutcome> install(std::vector<Source> sources, const core::ComponentPlan& plan,
                               const InstallRequest& request, const store::Root& root, InstallObserver& observer) {
  const std::string name = core::to_text(request.release);
  auto staging = store::Staging::create(root, name);
  if (!staging) {
    if (!staging.error().hint.empty()) return fail(std::move(staging).error());
    staging.error().hint = "export CUDAENV_ROOT=DIRECTORY";
    return fail(std::move(staging).error().during("CUDAENV_ROOT names a directory that you can write to"));
  }
  auto lock = store::lock_toolkit(root, name, [&](long process) { observer.waiting_for(process); });
  if (!lock) return fail(std::move(lock).error());

  const base::Path target = root.toolkit(name);
  CUDAENV_TRY(dead, store::remove_dead_staging(root, name));  // perhaps of the one that held the lock
  (void)dead;
  if (!request.replace && base::path_exists(target / core::k_receipt_name)) {
    CUDAENV_TRY(receipt, store::read_receipt(target));
    return InstallOutcome{.found = std::move(receipt)};
  }
  CUDAENV_CHECK(check_room(plan, request, root));
  Installation installation(std::move(sources), plan, request, staging->path(), observer);
  CUDAENV_TRY(outcome, installation.build());
  if (base::is_interrupted()) return fail(base::interrupted_error());
  // What stood there, a former toolkit or left-overs without a receipt, ends up in the staging.
  const bool is_replacing = base::entry_kind(target) != base::EntryKind::absent;
  CUDAENV_CHECK(store::commit_toolkit(installation.tree(), target));
  if (is_replacing) outcome.replaced.emplace(std::move(*staging));
  return std::move(outcome);
}

}  // namespace cudaenv::redist
