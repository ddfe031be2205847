// SPDX-License-Identifier: Apache-2.0
#include "installer/progress.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

constexpr std::chrono::milliseconds k_redraw{100};

}  // namespace

Progress::Progress(base::Output& output, const core::ComponentPlan& plan)
    : m_output(output),
      m_is_live(output.can_redraw() && output.verbosity() != base::Verbosity::quiet),
      m_total(plan.download_size()),
      m_count(plan.components.size()) {}

Progress::~Progress() { m_output.clear_drawn(); }

void Progress::waiting_for(long process) {
  m_output.waiting(process == 0 ? "waiting for another cudaenv that installs the same release"
                                : fmt::format("waiting for process {}, which installs the same release", process));
}

void Progress::switching(const Error& reason) { m_output.warning(reason.message + "; trying the next mirror"); }

void Progress::started(const core::PlannedComponent& component) {
  ++m_number;
  draw(component, "fetching", 0);
}

void Progress::received(const core::PlannedComponent& component, std::uint64_t bytes) {
  if (Clock::now() - m_last_drawn >= k_redraw) draw(component, "fetching", bytes);
}

void Progress::unpacking(const core::PlannedComponent& component) {
  draw(component, "unpacking", component.archive.size);
}

void Progress::finished(const core::PlannedComponent& component) {
  m_done += component.archive.size;
  if (m_is_live) return;
  m_output.note(fmt::format("[{}/{}] {} {} ({})", m_number, m_count, component.component->name,
                            base::escaped(component.component->version), base::human_size(component.archive.size)));
}

void Progress::draw(const core::PlannedComponent& component, std::string_view step, std::uint64_t bytes) {
  if (!m_is_live) return;
  m_last_drawn = Clock::now();
  const std::uint64_t received = m_done + bytes;
  const double seconds = std::chrono::duration<double>(m_last_drawn - m_start).count();
  std::string line =
      fmt::format("[{}/{}] {} {}  {} of {} ({}%)", m_number, m_count, step, component.component->name,
                  base::human_size(received), base::human_size(m_total), m_total == 0 ? 100 : received * 100 / m_total);
  if (seconds > 1 && received > 0 && received < m_total) {
    const double rate = static_cast<double>(received) / seconds;
    line += fmt::format(", {}/s, {:.0f} s left", base::human_size(static_cast<std::uint64_t>(rate)),
                        static_cast<double>(m_total - received) / rate);
  }
  m_output.redraw({&line, 1});
}

}  // namespace cudaenv::installer
