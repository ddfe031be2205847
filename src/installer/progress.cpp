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

Progress::Progress(base::Output& output, const core::ComponentPlan& plan)
    : m_output(output),
      m_is_live(output.can_redraw() && output.verbosity() != base::Verbosity::quiet),
      m_count(plan.components.size()) {}

Progress::~Progress() { m_output.clear_drawn(); }

void Progress::waiting_for(long process) {
  m_output.waiting(process == 0 ? "waiting for another cudaenv that installs the same release"
                                : fmt::format("waiting for process {}, which installs the same release", process));
}

void Progress::switching(const Error& reason) { m_output.warning(reason.message + "; trying the next mirror"); }

void Progress::finished(const core::PlannedComponent& component, redist::ComponentOrigin origin) {
  ++m_finished;
  if (m_is_live) return;
  m_output.note(fmt::format("[{}/{}] {} {} ({}{})", m_finished, m_count, component.component->name,
                            base::escaped(component.component->version), base::human_size(component.archive.size),
                            text_of(origin)));
}

void Progress::progressed(const redist::InstallProgress& progress) {
  if (!m_is_live || progress.running.empty()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
  const std::uint64_t received = progress.received;
  const std::uint64_t all = progress.to_fetch;
  std::string line = fmt::format("[{}/{}] {}  {} of {} ({}%)", m_finished + 1, m_count,
                                 progress.running.front().component->component->name, base::human_size(received),
                                 base::human_size(all), all == 0 ? 100 : received * 100 / all);
  if (seconds > 1 && received > 0 && received < all) {
    const double rate = static_cast<double>(received) / seconds;
    line += fmt::format(", {}/s, {:.0f} s left", base::human_size(static_cast<std::uint64_t>(rate)),
                        static_cast<double>(all - received) / rate);
  }
  m_output.redraw({&line, 1});
}

}  // namespace cudaenv::installer
