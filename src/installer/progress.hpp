// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/output.hpp"
#include "installer/bars.hpp"
#include "redist/install_observer.hpp"

namespace cudaenv::installer {

// Shows an installation under way: bars on a terminal, a line a component elsewhere.
class Progress : public redist::InstallObserver {
 public:
  // Of which components there is a line where there are no bars.
  enum class Lines { all, fetched };
  Progress(base::Output& output, const core::ComponentPlan& plan, Lines lines = Lines::all);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() override;

  void waiting_for(long process) override;
  void switching(const Error& reason) override;
  void progressed(const redist::InstallProgress& progress) override;
  void finished(const core::PlannedComponent& component, redist::ComponentOrigin origin) override;
  void stopping() override;

 private:
  base::Output& m_output;
  const bool m_is_live;
  const Lines m_lines;
  const std::size_t m_count;  // components
  std::size_t m_finished = 0;
  Rate m_received;
  Rate m_unpacked;
};

}  // namespace cudaenv::installer
