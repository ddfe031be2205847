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
  void progressed(const redist::InstallProgress& progress) override;
  void finished(const core::PlannedComponent& component, redist::ComponentOrigin origin) override;

 private:
  using Clock = std::chrono::steady_clock;

  base::Output& m_output;
  const bool m_is_live;
  const std::size_t m_count;   // components
  std::size_t m_finished = 0;  // of them
  const Clock::time_point m_start = Clock::now();
};

}  // namespace cudaenv::installer
