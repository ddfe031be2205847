// SPDX-License-Identifier: Apache-2.0
#include "installer/fetch_progress.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

constexpr std::chrono::milliseconds k_redraw{100};

}  // namespace

void FetchProgress::switching(const Error& reason) { m_output.warning(reason.message + "; trying the next mirror"); }

void FetchProgress::started(const redist::ArchiveJob& job) { draw(job); }

void FetchProgress::received(const redist::ArchiveJob& job, std::uint64_t bytes) {
  m_received[&job] = bytes;
  if (Clock::now() - m_last_drawn >= k_redraw) draw(job);
}

void FetchProgress::finished(const redist::ArchiveJob& job) {
  ++m_number;
  if (m_is_live) return;
  m_output.note(fmt::format("[{}/{}] {} ({})", m_number, m_count,
                            base::escaped(base::Path(job.archive.relative_path).filename().native()),
                            base::human_size(job.archive.size)));
}

void FetchProgress::draw(const redist::ArchiveJob& job) {
  if (!m_is_live) return;
  m_last_drawn = Clock::now();
  std::uint64_t received = 0;
  for (const auto& [fetched, bytes] : m_received) received += bytes;
  const double seconds = std::chrono::duration<double>(m_last_drawn - m_start).count();
  std::string line =
      fmt::format("[{}/{}] fetching {}  {} of {} ({}%)", m_number + 1, m_count, job.component,
                  base::human_size(received), base::human_size(m_total), m_total == 0 ? 100 : received * 100 / m_total);
  if (seconds > 1 && received > 0 && received < m_total) {
    const double rate = static_cast<double>(received) / seconds;
    line += fmt::format(", {}/s, {:.0f} s left", base::human_size(static_cast<std::uint64_t>(rate)),
                        static_cast<double>(m_total - received) / rate);
  }
  m_output.redraw({&line, 1});
}

}  // namespace cudaenv::installer
