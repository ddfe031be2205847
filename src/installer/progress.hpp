// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "base/output.hpp"
#include "redist/installer.hpp"

namespace cudaenv::installer {

// Shows an installation under way: one line that changes on a terminal, a line a component elsewhere.
class Progress : public redist::InstallObserver {
 public:
  Progress(base::Output& output, const core::ComponentPlan& plan);
  ~Progress() override;

  void waiting_for(long process) override;
  void switching(const Error& reason) override;
  void started(const core::PlannedComponent& component) override;
  void received(const core::PlannedComponent& component, std::uint64_t bytes) override;
  void unpacking(const core::PlannedComponent& component) override;
  void finished(const core::PlannedComponent& component) override;

 private:
  void draw(const core::PlannedComponent& component, std::string_view step, std::uint64_t bytes);

  using Clock = std::chrono::steady_clock;

  base::Output& m_output;
  const bool m_is_live;
  const std::uint64_t m_total;  // bytes to download
  const std::size_t m_count;    // components
  std::uint64_t m_done = 0;     // bytes of finished components
  std::size_t m_number = 0;     // of the component under way, from 1
  const Clock::time_point m_start = Clock::now();
  Clock::time_point m_last_drawn;
};

}  // namespace cudaenv::installer
