// SPDX-License-Identifier: Apache-2.0
#include "redist/fetch_all.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "redist/archive_stream.hpp"
#include "redist/digest.hpp"
#include "redist/read_bytes.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_at_once = 4;  // archives: enough for one that is slow to begin not to leave the link idle
constexpr std::chrono::milliseconds k_slice{80};

// What a directory holds is copied, into a file of this process's own.
class Copy {
 public:
  explicit Copy(const base::Path& to) : m_to(to), m_path(fmt::format("{}.{}.copy", to.native(), ::getpid())) {}
  ~Copy() {
    if (m_fd) ::unlink(m_path.c_str());
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  Result<void> begin() {
    m_fd = base::Fd(::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!m_fd) return fail(base::file_error("write", m_path, errno));
    return {};
  }
  Result<void> write(std::string_view bytes) const { return base::write_all(m_fd, bytes, m_path); }
  Result<void> finish() {
    (void)::fchmod(*m_fd, 0644);
    CUDAENV_CHECK(base::rename_path(m_path, m_to));
    m_fd.reset();
    return {};
  }

 private:
  const base::Path m_to;
  const base::Path m_path;
  base::Fd m_fd;
};

// Reads all of a stream; its digest.
Result<std::string> read_through(ArchiveStream& stream, Copy* copy) {
  std::vector<char> block(k_block_size);
  Sha256 digest;
  while (true) {
    CUDAENV_TRY(got, stream.read(block));
    if (got == 0) return digest.finish();
    digest.update(std::string_view(block.data(), got));
    if (copy) CUDAENV_CHECK(copy->write(std::string_view(block.data(), got)));
  }
}

// What a process that was killed had for itself alone.
Result<void> remove_left_overs(const base::Path& to) {
  CUDAENV_TRY(names, base::list_directory(to.parent_path()));
  const std::string start = to.filename().native() + ".";
  for (const std::string& name : names) {
    if (!name.starts_with(start)) continue;
    const std::string_view rest = std::string_view(name).substr(start.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0 && (rest.substr(digits) == ".part" || rest.substr(digits) == ".copy"))
      ::unlink((to.parent_path() / name).c_str());
  }
  return {};
}

class Fetching {
 public:
  Fetching(const std::vector<Source>& sources, const std::vector<ArchiveJob>& jobs)
      : m_fetcher(sources, {{}, [this] { return !m_is_stopped && !base::is_interrupted(); }}) {
    for (const ArchiveJob& job : jobs) m_entries.emplace_back().job = &job;
  }
  ~Fetching() {
    m_is_stopped = true;
    for (std::thread& thread : m_threads) thread.join();
  }
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;

  Result<FetchTotals> run(FetchObserver& observer) {
    for (std::size_t i = 0; i < std::min(k_at_once, m_entries.size()); ++i) m_threads.emplace_back([this] { work(); });
    FetchTotals totals;
    std::unique_lock lock(m_mutex);
    while (true) {
      for (Entry& entry : m_entries) tell(entry, observer, totals);
      for (const Error& reason : m_fetcher.take_switches()) observer.switching(reason);
      if (base::is_interrupted()) return fail(base::interrupted_error());
      if (m_error) return fail(std::move(*m_error));
      if (totals.archives == m_entries.size()) return totals;
      m_changed.wait_for(lock, k_slice);
    }
  }

 private:
  struct Entry {
    const ArchiveJob* job;
    std::unique_ptr<ArchiveStream> stream;
    bool is_done = false;
    bool is_told_begun = false;
    bool is_told_done = false;
  };

  void tell(Entry& entry, FetchObserver& observer, FetchTotals& totals) const {
    if (!entry.stream || entry.is_told_done) return;
    if (!std::exchange(entry.is_told_begun, true)) observer.started(*entry.job);
    observer.received(*entry.job, entry.stream->received());
    if (!entry.is_done) return;
    entry.is_told_done = true;
    observer.finished(*entry.job);
    ++totals.archives;
    totals.bytes += entry.job->archive.size;
  }

  void work() {
    std::unique_lock lock(m_mutex);
    while (m_next < m_entries.size() && !m_is_stopped) {
      Entry& entry = m_entries[m_next++];
      lock.unlock();
      auto done = fetch(entry);
      lock.lock();
      entry.is_done = done.has_value();
      if (!done && !m_error) m_error = std::move(done).error();
      if (!done) m_is_stopped = true;
      m_changed.notify_all();
    }
  }

  Result<void> fetch(Entry& entry) {
    const ArchiveJob& job = *entry.job;
    CUDAENV_CHECK(remove_left_overs(job.to));
    const base::Path own = fmt::format("{}.{}.part", job.to.native(), ::getpid());
    auto stream = m_fetcher.begin(job.archive, {job.to, job.to.native() + ".part", own});
    {
      const std::lock_guard lock(m_mutex);
      entry.stream = std::move(stream);
    }
    while (true) {
      std::optional<Copy> copy;
      if (entry.stream->is_local()) CUDAENV_CHECK(copy.emplace(job.to).begin());
      auto digest = read_through(*entry.stream, copy ? &*copy : nullptr);
      if (!digest)
        return fail(std::move(digest).error().during(fmt::format("while fetching component {}", job.component)));
      const std::string from = entry.stream->shown();
      if (*digest == job.archive.sha256) {
        if (!copy && entry.stream->is_local()) {  // it went over to a directory on the way
          entry.stream->rewind();
          continue;
        }
        CUDAENV_CHECK(entry.stream->accept());
        if (!copy) return {};
        PartialFile::discard(job.to.native() + ".part");  // of a run with another source
        return copy->finish();
      }
      CUDAENV_TRY(is_begun_anew, entry.stream->begin_anew());
      if (!is_begun_anew) return fail(damaged_archive(job.component, from, job.archive.sha256, *digest));
    }
  }

  std::atomic<bool> m_is_stopped = false;
  ArchiveFetcher m_fetcher;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Entry> m_entries;
  std::size_t m_next = 0;
  std::optional<Error> m_error;
  std::vector<std::thread> m_threads;
};

}  // namespace

Result<FetchTotals> fetch_all(const std::vector<Source>& sources, const std::vector<ArchiveJob>& jobs,
                              FetchObserver& observer) {
  return Fetching(sources, jobs).run(observer);
}

}  // namespace cudaenv::redist
