// SPDX-License-Identifier: Apache-2.0
#include "installer/progress.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

std::string_view text_of(redist::ComponentOrigin origin) {
  switch (origin) {
    case redist::ComponentOrigin::fetched: return "";
    case redist::ComponentOrigin::kept: return ", kept";
    case redist::ComponentOrigin::shared: return ", shared";
  }
  return "";
}

}  // namespace

Progress::Progress(base::Output& output, const core::ComponentPlan& plan, Lines lines)
    : m_output(output),
      m_is_live(output.can_redraw() && output.verbosity() != base::Verbosity::quiet),
      m_lines(lines),
      m_count(plan.components.size()) {}

Progress::~Progress() { m_output.clear_drawn(); }

void Progress::waiting_for(long process) {
  m_output.waiting(process == 0 ? "waiting for another cudaenv that installs the same release"
                                : fmt::format("waiting for process {}, which installs the same release", process));
}

void Progress::switching(const Error& reason) { m_output.warning(reason.message + "; trying the next mirror"); }

void Progress::progressed(const redist::InstallProgress& progress) {
  if (!m_is_live) return;
  const Rate::Time now = std::chrono::steady_clock::now();
  m_received.add(now, progress.received);
  m_unpacked.add(now, progress.unpacked);
  m_output.redraw(bars(progress, m_received.per_second(), m_unpacked.per_second(), m_output.terminal_size()));
}

void Progress::stopping() {
  m_output.clear_drawn();
  m_output.waiting("stopping; the next run resumes where this one was");
}

void Progress::finished(const core::PlannedComponent& component, redist::ComponentOrigin origin) {
  ++m_finished;
  if (m_is_live) return;
  if (m_lines == Lines::fetched && origin == redist::ComponentOrigin::shared) return;
  m_output.note(fmt::format("[{}/{}] {} {} ({}{})", m_finished, m_count, component.component->name,
                            base::escaped(component.component->version), base::human_size(component.archive.size),
                            text_of(origin)));
}

}  // namespace cudaenv::installer
