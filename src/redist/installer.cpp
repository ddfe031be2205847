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

// A lower bound on how much larger a toolkit is than its archives: xz packs libraries to a third or less. Refusing
// what would have fitted is worse than failing later, so this is on the low side.
constexpr std::uint64_t k_least_unpack_factor = 2;

Result<void> check_room(const core::ComponentPlan& plan, const store::Root& root) {
  std::uint64_t largest = 0;
  for (const core::PlannedComponent& planned : plan.components) largest = std::max(largest, planned.archive.size);
  const std::uint64_t needed = largest + plan.download_size() * k_least_unpack_factor;
  CUDAENV_TRY(free, base::free_space(root.versions()));
  if (free >= needed) return {};
  return fail(ErrorKind::filesystem, fmt::format("not enough space in {}", base::escaped(root.versions().native())),
              "choose less with --profile minimal, or another place with CUDAENV_ROOT",
              {fmt::format("needed: at least {}, free: {}", base::human_size(needed), base::human_size(free))});
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
  Installation(const Source& source, const core::ComponentPlan& plan, const InstallRequest& request,
               const base::Path& staging, InstallObserver& observer)
      : m_source(source),
        m_plan(plan),
        m_request(request),
        m_staging(staging),
        m_tree(staging / "toolkit"),
        m_observer(observer),
        m_merger(m_tree, core::target_directory(request.platform)) {}

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
    m_observer.started(planned);
    CUDAENV_CHECK(fetch_archive(m_source, planned.archive, name, archive, [&](std::uint64_t bytes) {
      m_observer.received(planned, bytes);
      return !base::is_interrupted();
    }));
    m_observer.unpacking(planned);
    CUDAENV_CHECK(make_directory(unpacked));
    CUDAENV_TRY(entries, unpack(archive, unpacked, [] { return !base::is_interrupted(); }));
    CUDAENV_CHECK(m_merger.add(planned, entries, unpacked));
    CUDAENV_CHECK(base::remove_tree(unpacked));
    CUDAENV_CHECK(base::remove_tree(archive));
    m_observer.finished(planned);
    return {};
  }

  store::Receipt make_receipt() {
    store::Receipt receipt;
    receipt.release = m_request.release;
    receipt.platform = m_request.platform;
    receipt.profile = core::to_text(m_request.choice.profile);
    receipt.with = m_request.choice.with;
    receipt.without = m_request.choice.without;
    receipt.source = m_source.location.shown();
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

  const Source& m_source;
  const core::ComponentPlan& m_plan;
  const InstallRequest& m_request;
  const base::Path m_staging;
  const base::Path m_tree;
  InstallObserver& m_observer;
  TreeMerger m_merger;
};

}  // namespace

Result<InstallOutcome> install(const Source& source, const core::ComponentPlan& plan, const InstallRequest& request,
                               const store::Root& root, InstallObserver& observer) {
  const std::string name = core::to_text(request.release);
  auto staging = store::Staging::create(root, name);
  if (!staging) {
    if (staging.error().hint.empty()) staging.error().hint = "export CUDAENV_ROOT=DIRECTORY, one that you can write to";
    return fail(std::move(staging).error());
  }
  auto lock = store::lock_toolkit(root, name, [&](long process) { observer.waiting_for(process); });
  if (!lock) return fail(std::move(lock).error());

  const base::Path target = root.toolkit(name);
  const bool was_there = base::path_exists(target / core::k_receipt_name);
  if (was_there && !request.replace) return InstallOutcome{true, 0, 0};
  CUDAENV_TRY(dead, store::remove_dead_staging(root));  // perhaps of the one that held the lock
  (void)dead;
  CUDAENV_CHECK(check_room(plan, root));
  Installation installation(source, plan, request, staging->path(), observer);
  CUDAENV_TRY(outcome, installation.build());
  if (base::is_interrupted()) return fail(base::interrupted_error());
  // What stood there, a former toolkit or left-overs without a receipt, ends up in the staging and goes with it.
  CUDAENV_CHECK(store::commit_toolkit(installation.tree(), target));
  return outcome;
}

}  // namespace cudaenv::redist
