// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/file_choice.hpp"
#include "redist/archive.hpp"
#include "redist/archive_stream.hpp"
#include "redist/file_bank.hpp"
#include "redist/install_observer.hpp"

namespace cudaenv::redist {

// Where and with what components are made ready.
struct Workshop {
  base::Path staging;   // unpacked/<component> is made below
  base::Path cache;     // of archives
  unsigned jobs;        // components at once, and threads in all
  bool keeps_archives;  // until they are removed by the caller; else each goes as soon as it is unpacked
  const FileBank& bank;
  const core::FileChoice& choice;
  std::string target_directory;                                           // core::target_directory, for the choice
  std::function<ArchiveFetcher*(const core::PlannedComponent&)> fetcher;  // null: there is nothing to fetch it from
  std::function<std::vector<Error>()> take_switches;                      // of all fetchers
  std::function<bool()> keep_going;
  std::atomic<bool>& is_stopped;  // set when one component has failed; makes keep_going say no
};

// A component that is ready to be merged.
struct ReadyComponent {
  const core::PlannedComponent* component;
  ComponentOrigin origin = ComponentOrigin::fetched;
  base::Path directory;                               // what was unpacked, or linked as it is installed
  std::vector<UnpackedEntry> entries = {};            // unpacked
  std::optional<FileBank::Kept> kept = std::nullopt;  // linked
};

// Fetches and unpacks components, several at once, each by one thread: bytes go from the network to the archive's file,
// and from there, as long as they are in memory, through digest and decoder to the disk. The largest come first, and a
// few are fetched ahead. Memory: a few blocks and a decoder for each job (read_bytes.hpp, xz_decoder.hpp), whatever the
// archives' size.
class ComponentJobs {
 public:
  ComponentJobs(const core::ComponentPlan& plan, Workshop workshop);
  ~ComponentJobs();

  // Calls `on_ready` for each component as it gets ready and tells `observer`, all in this thread. The first error ends
  // everything. A digest that is wrong is ErrorKind::integrity, naming both.
  [[nodiscard]] Result<void> run(InstallObserver& observer,
                                 const std::function<Result<void>(ReadyComponent&)>& on_ready);

  std::uint64_t fetched() const { return m_fetched; }  // bytes that came over the network

 private:
  enum class State { waiting, running, ready, merged };
  struct Job {
    const core::PlannedComponent* component;
    State state = State::waiting;
    std::once_flag once;
    std::vector<FileBank::Kept> holders;  // that it may be linked from, the next one last
    std::unique_ptr<ArchiveStream> stream;
    ReadyComponent result;
  };

  void work();
  Result<void> make_ready(Job& job, unsigned threads);
  Result<void> try_to_make_ready(Job& job, unsigned threads);
  Result<bool> link(Job& job);
  Result<void> unpack_archive(Job& job, unsigned threads);
  Result<std::vector<UnpackedEntry>> unpack_once(Job& job, unsigned threads, std::string& digest);
  Result<void> make_room(const Job& job) const;
  void begin(Job& job);
  InstallProgress progress();
  void tell(InstallObserver& observer, const InstallProgress& progress) const;

  const Workshop m_workshop;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Job> m_jobs;  // the largest first
  std::size_t m_next = 0;
  std::size_t m_merged = 0;
  std::uint64_t m_fetched = 0;
  std::optional<Error> m_error;
  std::vector<std::thread> m_threads;
};

}  // namespace cudaenv::redist
