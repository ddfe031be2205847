// SPDX-License-Identifier: Apache-2.0
#include "redist/installer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "core/file_choice.hpp"
#include "core/layout.hpp"
#include "core/platform.hpp"
#include "core/selection_types.hpp"
#include "core/version_text.hpp"
#include "redist/archive_stream.hpp"
#include "redist/carry_over.hpp"
#include "redist/component_jobs.hpp"
#include "redist/file_bank.hpp"
#include "redist/merge.hpp"
#include "store/staging.hpp"
#include "store/toolkits.hpp"

// In the order of what may fail most cheaply: lock, room, then the components, several at once (component_jobs.hpp),
// each merged as it gets ready; then the layout, the receipt, one sync of the file system, one rename. Everything until
// then happens in a staging directory that goes with this process. Archives are kept until the end, so that whoever is
// killed need not fetch them again, unless there is no room for that.

namespace cudaenv::redist {
namespace {

// A lower bound on how much larger a toolkit is than its archives: xz packs its libraries to a third or less (measured:
// 3.1 for a compiler packed at the lowest level). Refusing what would have fitted is worse than failing later.
constexpr std::uint64_t k_least_unpack_factor = 3;

unsigned jobs_of(const InstallRequest& request) {
  return request.jobs > 0 ? request.jobs : std::max(1u, std::thread::hardware_concurrency());
}

struct Room {
  std::uint64_t needed;          // bytes, at least
  std::uint64_t needed_to_keep;  // archives too, until the end
  std::uint64_t free;
};

Result<Room> room_for(const core::ComponentPlan& plan, const FileBank& bank, const core::FileChoice& choice,
                      const InstallRequest& request, const store::Root& root) {
  std::vector<std::uint64_t> sizes;
  for (const core::PlannedComponent& planned : plan.components)
    if (bank.holders(planned, choice).empty()) sizes.push_back(planned.archive.size);
  std::sort(sizes.rbegin(), sizes.rend());
  const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  sizes.resize(std::min<std::size_t>(sizes.size(), 2 * jobs_of(request)));
  const std::uint64_t at_once = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  CUDAENV_TRY(free, base::free_space(root.versions()));
  return Room{all * k_least_unpack_factor + at_once, all * k_least_unpack_factor + all, free};
}

Result<void> check_room(const Room& room, const InstallRequest& request, const store::Root& root) {
  if (room.free >= room.needed) return {};
  return fail(ErrorKind::filesystem, fmt::format("not enough space in {}", base::escaped(root.versions().native())),
              request.choice.profile == core::Profile::minimal
                  ? "export CUDAENV_ROOT=DIRECTORY"
                  : fmt::format("cudaenv install {} --profile minimal", core::to_text(request.release)),
              {fmt::format("needed: at least {}, free: {}", base::human_size(room.needed), base::human_size(room.free)),
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
  Installation(const core::ComponentPlan& plan, const InstallRequest& request, const store::Root& root,
               const base::Path& staging, InstallObserver& observer)
      : m_plan(plan),
        m_request(request),
        m_root(root),
        m_old(root.toolkit(core::to_text(request.release))),
        m_staging(staging),
        m_tree(staging / "toolkit"),
        m_observer(observer),
        m_choice(request.choice.without),
        m_bank(root, request.release, request.platform,
               request.extends ? FileBank::OwnFiles::as_they_are : FileBank::OwnFiles::read_first, keep_going()),
        m_merger(m_tree, core::target_directory(request.platform), request.command) {
    for (const auto& [product, origin] : request.origins) {
      if (origin.sources.empty()) continue;
      const auto is_alike = [&origin = origin](const Source& source) {
        return has_manifest(source, origin.version, origin.manifest_sha256);
      };
      m_fetchers.try_emplace(product, origin.sources, ArchiveFetcher::Options{is_alike, keep_going()});
    }
  }

  // Leaves the finished tree, receipt included, at tree().
  Result<InstallOutcome> build() {
    CUDAENV_TRY(room, room_for(m_plan, m_bank, m_choice, m_request, m_root));
    CUDAENV_CHECK(check_room(room, m_request, m_root));
    for (const base::Path& directory : {m_tree, m_staging / "archives", m_staging / "unpacked"})
      CUDAENV_CHECK(make_directory(directory));
    InstallOutcome outcome;
    CUDAENV_TRY(fetched, add_components(room.free >= room.needed_to_keep));
    outcome.fetched = fetched;
    const auto& without = m_request.choice.without;
    const bool expects_compiler =
        m_plan.find("cuda_nvcc") && std::all_of(without.begin(), without.end(), [](const std::string& word) {
          return core::find_file_group(word) != nullptr;
        });
    CUDAENV_CHECK(m_merger.finish(m_request.release, m_plan,
                                  expects_compiler ? TreeMerger::ExpectCompiler::yes : TreeMerger::ExpectCompiler::no));
    const store::Receipt receipt = make_receipt();
    outcome.file_count = receipt.files.size();
    for (const store::ReceiptFile& file : receipt.files) outcome.installed_size += file.size;
    CUDAENV_CHECK(base::write_file(m_tree / core::k_receipt_name, to_json(receipt), 0644, base::Durable::no));
    if (m_request.keeps_additions) CUDAENV_CHECK(carry_over(m_old, m_tree));
    CUDAENV_TRY(shared, shared_size(receipt));
    outcome.shared_size = shared;
    CUDAENV_CHECK(sync_file_system(m_tree));
    return outcome;
  }

  // What was fetched has done its duty.
  void remove_archives() const {
    if (m_request.keeps_archives) return;
    for (const core::PlannedComponent& planned : m_plan.components) {
      const ArchivePlace place = place_in_cache(cache(), m_staging, planned.archive);
      ::unlink(place.complete.c_str());
      PartialFile::discard(place.partial);
    }
  }

  const base::Path& tree() const { return m_tree; }

 private:
  std::function<bool()> keep_going() {
    return [this] { return !m_is_stopped && !base::is_interrupted(); };
  }
  base::Path cache() const { return m_root.cached_archives(); }
  std::vector<Error> take_switches() {
    std::vector<Error> all;
    for (auto& [product, fetcher] : m_fetchers)
      for (Error& reason : fetcher.take_switches()) all.push_back(std::move(reason));
    return all;
  }

  // Whether something of this installation is in the cache, for the next run.
  bool has_something_kept() const {
    const auto has_bytes = [](const base::Path& path) {
      std::error_code error;
      return std::filesystem::file_size(path, error) > 0 && !error;
    };
    return std::any_of(m_plan.components.begin(), m_plan.components.end(), [&](const core::PlannedComponent& planned) {
      const ArchivePlace place = place_in_cache(cache(), m_staging, planned.archive);
      return has_bytes(place.complete) || has_bytes(place.partial);
    });
  }

  // How many bytes came over the network.
  Result<std::uint64_t> add_components(bool keeps_archives) {
    ComponentJobs jobs(m_plan, {.staging = m_staging,
                                .cache = cache(),
                                .jobs = jobs_of(m_request),
                                .keeps_archives = keeps_archives || m_request.keeps_archives,
                                .bank = m_bank,
                                .choice = m_choice,
                                .target_directory = core::target_directory(m_request.platform),
                                .fetcher = [this](const core::PlannedComponent& planned) -> ArchiveFetcher* {
                                  const auto found = m_fetchers.find(planned.product);
                                  return found == m_fetchers.end() ? nullptr : &found->second;
                                },
                                .take_switches = [this] { return take_switches(); },
                                .keep_going = keep_going(),
                                .is_stopped = m_is_stopped});
    auto done = jobs.run(m_observer, [this](ReadyComponent& ready) { return merge(ready); });
    if (done) return jobs.fetched();
    Error error = std::move(done).error();
    if (base::is_interrupted()) error = base::interrupted_error();
    if (error.kind == ErrorKind::integrity && error.hint.empty())
      error.hint = m_fetchers.contains("") ? m_request.command
                                           : fmt::format("cudaenv repair {}", core::to_text(m_request.release));
    if (has_something_kept()) error.details.emplace_back("what was fetched is kept: the next run resumes there");
    return fail(std::move(error));
  }

  Result<void> merge(ReadyComponent& ready) {
    const std::string& name = ready.component->component->name;
    CUDAENV_CHECK(ready.kept ? m_merger.add_installed(name, ready.kept->files, ready.directory)
                             : m_merger.add(*ready.component, ready.entries, ready.directory));
    ready.entries = {};
    return base::remove_tree(ready.directory);
  }

  // Bytes of files that have other names outside of this tree.
  Result<std::uint64_t> shared_size(const store::Receipt& receipt) const {
    std::uint64_t bytes = 0;
    if (m_bank.is_empty()) return bytes;
    for (const store::ReceiptFile& file : receipt.files) {
      struct stat info;
      if (!file.target.empty() || ::lstat((m_tree / file.path).c_str(), &info) != 0) continue;
      if (info.st_nlink > 1) bytes += file.size;
    }
    return bytes;
  }

  store::Receipt make_receipt() {
    const Origin& own = m_request.origins.find("")->second;
    store::Receipt receipt;
    receipt.release = m_request.release;
    receipt.platform = m_request.platform;
    receipt.profile = core::to_text(m_request.choice.profile);
    receipt.with = m_request.choice.with;
    receipt.without = m_request.choice.without;
    receipt.source = own.shown;
    receipt.manifest_sha256 = own.manifest_sha256;
    receipt.installed = now_utc();
    receipt.layout = core::k_layout;
    for (const core::PlannedComponent& planned : m_plan.components) {
      const core::Component& component = *planned.component;
      store::ReceiptComponent entry{component.name,
                                    component.version,
                                    component.license,
                                    m_merger.license_digest(component.name),
                                    planned.archive.relative_path,
                                    planned.archive.sha256,
                                    planned.archive.size,
                                    component.human_name};
      if (!planned.product.empty()) {
        const Origin& origin = m_request.origins.find(planned.product)->second;
        entry.product = planned.product;
        entry.product_version = origin.version;
        entry.product_manifest_sha256 = origin.manifest_sha256;
        entry.product_source = origin.shown;
        entry.lib_directory = planned.lib_directory;
      }
      receipt.components.push_back(std::move(entry));
    }
    receipt.files = m_merger.take_files();
    return receipt;
  }

  const core::ComponentPlan& m_plan;
  const InstallRequest& m_request;
  const store::Root& m_root;
  const base::Path m_old;  // the toolkit that is there, if one is
  const base::Path m_staging;
  const base::Path m_tree;
  InstallObserver& m_observer;
  std::atomic<bool> m_is_stopped = false;
  const core::FileChoice m_choice;
  const FileBank m_bank;
  std::map<std::string, ArchiveFetcher, std::less<>> m_fetchers;  // by product
  TreeMerger m_merger;
};

}  // namespace

Result<Site> open_site(const store::Root& root, const std::string& name, const std::function<void(long)>& on_wait) {
  auto staging = store::Staging::create(root, name);
  if (!staging) {
    if (!staging.error().hint.empty()) return fail(std::move(staging).error());
    staging.error().hint = "export CUDAENV_ROOT=DIRECTORY";
    return fail(std::move(staging).error().during("CUDAENV_ROOT names a directory that you can write to"));
  }
  auto lock = store::lock_toolkit(root, name, on_wait);
  if (!lock) return fail(std::move(lock).error());
  CUDAENV_CHECK(store::remove_dead_staging(root, name));  // perhaps of the one that held the lock
  return Site{std::move(*staging), std::move(*lock)};
}

Result<InstallOutcome> install_at(Site site, const core::ComponentPlan& plan, const InstallRequest& request,
                                  const store::Root& root, InstallObserver& observer) {
  const base::Path target = root.toolkit(core::to_text(request.release));
  Installation installation(plan, request, root, site.staging.path(), observer);
  CUDAENV_TRY(outcome, installation.build());
  if (base::is_interrupted()) return fail(base::interrupted_error());
  // What stood there, a former toolkit or left-overs without a receipt, ends up in the staging.
  const bool is_replacing = base::entry_kind(target) != base::EntryKind::absent;
  CUDAENV_CHECK(store::commit_toolkit(installation.tree(), target));
  installation.remove_archives();
  if (is_replacing) outcome.replaced.emplace(std::move(site.staging));
  return std::move(outcome);
}

Result<InstallOutcome> install(const core::ComponentPlan& plan, const InstallRequest& request, const store::Root& root,
                               InstallObserver& observer) {
  const std::string name = core::to_text(request.release);
  CUDAENV_TRY(site, open_site(root, name, [&](long process) { observer.waiting_for(process); }));
  if (!request.replace && base::path_exists(root.toolkit(name) / core::k_receipt_name)) {
    CUDAENV_TRY(receipt, store::read_receipt(root.toolkit(name)));
    return InstallOutcome{.found = std::move(receipt)};
  }
  return install_at(std::move(site), plan, request, root, observer);
}

}  // namespace cudaenv::redist
