// SPDX-License-Identifier: Apache-2.0
#include "redist/component_jobs.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/layout.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_fetched_ahead = 1;  // archives, for each job; more would only take room on the disk
constexpr std::chrono::milliseconds k_slice{80};

}  // namespace

ComponentJobs::ComponentJobs(const core::ComponentPlan& plan, Workshop workshop) : m_workshop(std::move(workshop)) {
  std::vector<const core::PlannedComponent*> order;
  for (const core::PlannedComponent& planned : plan.components) order.push_back(&planned);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->archive.size > b->archive.size; });
  for (const core::PlannedComponent* planned : order) {
    Job& job = m_jobs.emplace_back();
    job.component = planned;
    job.result.component = planned;
    job.result.directory = m_workshop.staging / "unpacked" / planned->component->name;
    job.holders = m_workshop.bank.holders(*planned, m_workshop.choice);
    std::reverse(job.holders.begin(), job.holders.end());
  }
}

ComponentJobs::~ComponentJobs() {
  m_workshop.is_stopped = true;
  for (std::thread& thread : m_threads) thread.join();
}

// Whoever comes first of those that want it begun begins it.
void ComponentJobs::begin(Job& job) {
  std::call_once(job.once, [&] {
    const core::Archive& archive = job.component->archive;
    const ArchivePlace place = place_in_cache(m_workshop.cache, m_workshop.staging / "archives", archive);
    auto stream = m_workshop.fetcher(*job.component)->begin(archive, place);
    const std::lock_guard lock(m_mutex);
    job.stream = std::move(stream);
  });
}

Result<void> ComponentJobs::make_room(const Job& job) const {
  CUDAENV_CHECK(base::remove_tree(job.result.directory));
  if (::mkdir(job.result.directory.c_str(), 0755) != 0)
    return fail(base::file_error("create", job.result.directory, errno));
  return {};
}

// What it was unpacked to counts only if the digest, of every byte, is right; so does what is wrong with the archive.
// There is no digest where it was not read to its end.
Result<std::vector<UnpackedEntry>> ComponentJobs::unpack_once(Job& job, unsigned threads, std::string& digest) {
  Sha256 sum;
  std::optional<Error> unread;
  const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
    auto got = job.stream->read(buffer);
    if (got)
      sum.update(std::string_view(buffer.data(), *got));
    else
      unread = got.error();
    return got;
  };
  const std::string name = base::Path(job.component->archive.relative_path).filename();
  Unpacking unpacking{name, job.result.directory, threads, &m_workshop.bank};
  if (m_workshop.choice.leaves_out_any())
    unpacking.leaves_out = [&](std::string_view path) {
      return m_workshop.choice.leaves_out(core::installed_path(path, *job.component, m_workshop.target_directory));
    };
  unpacking.keep_going = m_workshop.keep_going;
  auto entries = unpack(read, unpacking);
  const bool is_broken = !entries && entries.error().kind != ErrorKind::interrupted;
  const bool is_judged =
      entries || entries.error().kind == ErrorKind::integrity ||
      (is_broken && job.stream->received() == job.component->archive.size);  // then perhaps for its own fault
  std::vector<char> rest(k_block_size);
  for (std::size_t got = 1; is_judged && !unread && got > 0;) got = read(rest).value_or(0);
  if (unread)
    return fail(std::move(*unread).during(fmt::format("while fetching component {}", job.component->component->name)));
  if (is_judged) digest = sum.finish();
  return entries;
}

Result<void> ComponentJobs::unpack_archive(Job& job, unsigned threads) {
  const core::Archive& archive = job.component->archive;
  while (true) {
    CUDAENV_CHECK(make_room(job));
    std::string digest;
    auto entries = unpack_once(job, threads, digest);
    if (!entries && digest.empty()) return fail(std::move(entries).error());
    const std::string from = job.stream->shown();
    if (digest == archive.sha256) {
      if (!entries) return fail(std::move(entries).error());
      CUDAENV_CHECK(job.stream->accept());
      job.result.entries = std::move(*entries);
      return {};
    }
    CUDAENV_TRY(is_begun_anew, job.stream->begin_anew());
    if (!is_begun_anew) return fail(damaged_archive(job.component->component->name, from, archive.sha256, digest));
  }
}

// From the first toolkit that has it as it ought to be. False, with nothing to link it from any more, if none has.
Result<bool> ComponentJobs::link(Job& job) {
  while (!job.holders.empty()) {
    CUDAENV_CHECK(make_room(job));
    CUDAENV_TRY(is_linked, m_workshop.bank.link_component(job.holders.back(), job.result.directory));
    const std::lock_guard lock(m_mutex);
    if (is_linked) {
      job.result.kept = std::move(job.holders.back());
      job.result.origin = ComponentOrigin::shared;
      return true;
    }
    job.holders.pop_back();
  }
  return false;
}

Result<void> ComponentJobs::make_ready(Job& job, unsigned threads) {
  CUDAENV_TRY(is_linked, link(job));
  if (is_linked) return {};
  if (!m_workshop.fetcher(*job.component))
    return fail(ErrorKind::integrity,
                fmt::format("component {} of the toolkit is damaged", job.component->component->name));
  begin(job);
  CUDAENV_CHECK(unpack_archive(job, threads));
  job.result.origin =
      job.stream->found() == job.component->archive.size ? ComponentOrigin::kept : ComponentOrigin::fetched;
  if (!m_workshop.keeps_archives) ::unlink((m_workshop.cache / job.component->archive.sha256).c_str());
  return {};
}

// What of ours throws does so for want of memory.
Result<void> ComponentJobs::try_to_make_ready(Job& job, unsigned threads) {
  try {
    return make_ready(job, threads);
  } catch (const std::exception& error) {
    return fail(ErrorKind::internal, fmt::format("cannot install component {}: {}", job.component->component->name,
                                                 base::escaped(error.what())));
  }
}

void ComponentJobs::work() {
  std::unique_lock lock(m_mutex);
  while (m_next < m_jobs.size() && m_workshop.keep_going()) {
    const std::size_t at = m_next++;
    Job& job = m_jobs[at];
    job.state = State::running;
    const std::size_t left = m_jobs.size() - at;
    const auto threads = static_cast<unsigned>(std::max<std::size_t>(1, m_workshop.jobs / left));
    const std::size_t end = std::min(m_jobs.size(), at + 1 + m_workshop.jobs * k_fetched_ahead);
    std::vector<Job*> ahead;
    for (std::size_t i = at; i < end; ++i)
      if (m_jobs[i].holders.empty() && m_workshop.fetcher(*m_jobs[i].component)) ahead.push_back(&m_jobs[i]);
    lock.unlock();
    for (Job* soon : ahead) begin(*soon);
    auto done = try_to_make_ready(job, threads);
    lock.lock();
    job.state = State::ready;
    if (!done) {
      if (!m_error) m_error = std::move(done).error();
      m_workshop.is_stopped = true;
    }
    m_changed.notify_all();
  }
}

InstallProgress ComponentJobs::progress() {
  InstallProgress progress;
  progress.count = m_jobs.size();
  m_fetched = 0;
  for (const Job& job : m_jobs) {
    const std::uint64_t size = job.component->archive.size;
    progress.finished += job.state == State::merged ? 1 : 0;
    if (!job.holders.empty()) continue;
    const std::uint64_t found = job.stream ? job.stream->found() : 0;
    const std::uint64_t received = job.stream ? job.stream->received() : 0;
    const bool is_done = job.state == State::ready || job.state == State::merged;
    const std::uint64_t consumed = is_done ? size : job.stream ? job.stream->consumed() : 0;
    progress.total += size;
    progress.unpacked += consumed;
    progress.to_fetch += size - std::min(size, found);
    progress.received += received - std::min(received, found);
    if (job.state == State::running) progress.running.push_back({job.component, received, consumed});
  }
  m_fetched = progress.received;
  return progress;
}

void ComponentJobs::tell(InstallObserver& observer, const InstallProgress& progress) const {
  for (const Error& reason : m_workshop.take_switches()) observer.switching(reason);
  observer.progressed(progress);
}

Result<void> ComponentJobs::run(InstallObserver& observer,
                                const std::function<Result<void>(ReadyComponent&)>& on_ready) {
  const std::size_t count = std::min<std::size_t>(m_workshop.jobs, m_jobs.size());
  for (std::size_t i = 0; i < count; ++i) m_threads.emplace_back([this] { work(); });
  std::unique_lock lock(m_mutex);
  while (m_merged < m_jobs.size()) {
    const auto ready =
        std::find_if(m_jobs.begin(), m_jobs.end(), [](const Job& job) { return job.state == State::ready; });
    const InstallProgress now = progress();
    if (m_error && m_error->kind != ErrorKind::interrupted) return fail(std::move(*m_error));
    if (!m_workshop.keep_going()) {
      observer.stopping();
      return fail(ErrorKind::interrupted, "interrupted");
    }
    if (ready == m_jobs.end()) {
      lock.unlock();
      tell(observer, now);
      lock.lock();
      m_changed.wait_for(lock, k_slice);
      continue;
    }
    ready->state = State::merged;
    ++m_merged;
    lock.unlock();
    CUDAENV_CHECK(on_ready(ready->result));
    observer.finished(*ready->component, ready->result.origin);
    lock.lock();
  }
  const InstallProgress all = progress();
  lock.unlock();
  tell(observer, all);
  return {};
}

}  // namespace cudaenv::redist
