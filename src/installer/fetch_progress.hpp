// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/output.hpp"
#include "redist/fetch_all.hpp"

namespace cudaenv::installer {

// Shows how archives are fetched: one line that changes on a terminal, a line an archive elsewhere.
class FetchProgress : public redist::FetchObserver {
 public:
  FetchProgress(base::Output& output, std::size_t count, std::uint64_t bytes)
      : m_output(output),
        m_is_live(output.can_redraw() && output.verbosity() != base::Verbosity::quiet),
        m_count(count),
        m_total(bytes) {}
  ~FetchProgress() override { m_output.clear_drawn(); }

  void switching(const Error& reason) override;
  void started(const redist::ArchiveJob& job) override;
  void received(const redist::ArchiveJob& job, std::uint64_t bytes) override;
  void finished(const redist::ArchiveJob& job) override;

 private:
  void draw(const redist::ArchiveJob& job);

  using Clock = std::chrono::steady_clock;

  base::Output& m_output;
  const bool m_is_live;
  const std::size_t m_count;                                      // archives
  const std::uint64_t m_total;                                    // bytes
  std::map<const redist::ArchiveJob*, std::uint64_t> m_received;  // bytes of each
  std::size_t m_number = 0;                                       // finished archives
  const Clock::time_point m_start = Clock::now();
  Clock::time_point m_last_drawn;
};

}  // namespace cudaenv::installer
