// SPDX-License-Identifier: Apache-2.0
#include "installer/bars.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

constexpr std::chrono::seconds k_window{5};
constexpr double k_least_seconds = 1;
constexpr std::size_t k_widest_bar = 30;
constexpr std::size_t k_narrowest_bar = 8;
constexpr std::size_t k_shortest_cut_name = 14;  // nsight_systems

enum class Detail { all, some, least };

struct Bar {
  std::string name;
  std::uint64_t size;  // bytes, as all of them
  std::uint64_t received;
  std::uint64_t unpacked;
};

// Of a part that may be reported as more than the whole.
double share_of(std::uint64_t part, std::uint64_t whole) {
  return part >= whole ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.0f}%", std::floor(share_of(part, whole) * 100));
}

std::string drawn(const Bar& bar, std::size_t cells) {
  const auto length = [&](std::uint64_t part) {
    return static_cast<std::size_t>(share_of(part, bar.size) * static_cast<double>(cells));
  };
  const std::size_t unpacked = length(bar.unpacked);
  const std::size_t received = std::max(unpacked, length(bar.received));
  return fmt::format("[{}{}{}]", std::string(unpacked, '='), std::string(received - unpacked, '-'),
                     std::string(cells - received, ' '));
}

// Nothing where the answer would be no help.
std::string time_text(double seconds) {
  constexpr double k_longest = 100 * 60 * 60;
  if (!(seconds >= 0 && seconds < k_longest)) return {};
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 60 * 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

// Seconds for what is left; below 0 if that cannot be told.
double left(std::uint64_t done, std::uint64_t all, std::optional<double> rate) {
  if (done >= all) return 0;
  return rate && *rate > 0 ? static_cast<double>(all - done) / *rate : -1;
}

// Network and unpacking go on at once, so the slower one says how long it takes.
std::string time_left(const redist::InstallProgress& progress, std::optional<double> received,
                      std::optional<double> unpacked) {
  const double network = left(progress.received, progress.to_fetch, received);
  const double unpacking = left(progress.unpacked, progress.total, unpacked);
  if (network < 0 || unpacking < 0 || progress.unpacked >= progress.total) return {};
  return time_text(std::max(network, unpacking));
}

std::string amounts(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} of {}", base::human_size(std::min(part, whole)), base::human_size(whole));
}

std::string text_of(const Bar& bar, Detail detail) {
  if (bar.received >= bar.size && detail == Detail::all) return "unpacking";
  if (detail == Detail::all) return amounts(bar.received, bar.size);
  return percent(bar.unpacked, bar.size);
}

std::string text_of_total(const redist::InstallProgress& progress, std::optional<double> received,
                          std::optional<double> unpacked, Detail detail) {
  const bool is_fetching = progress.received < progress.to_fetch;
  std::string text = percent(progress.unpacked, progress.total);
  if (detail == Detail::least) return text;
  if (detail == Detail::all)
    text = is_fetching ? amounts(progress.received, progress.to_fetch)
                       : "unpacking " + amounts(progress.unpacked, progress.total);
  if (is_fetching && received && *received >= 0)
    text += fmt::format("  {}/s", base::human_size(static_cast<std::uint64_t>(*received)));
  if (const std::string time = time_left(progress, received, unpacked); !time.empty())
    text += detail == Detail::all ? fmt::format("  {} left", time) : "  " + time;
  return text;
}

// A line a bar, all at the same width.
class Columns {
 public:
  Columns(std::vector<Bar> bars, std::vector<std::string> texts, std::size_t columns)
      : m_bars(std::move(bars)), m_texts(std::move(texts)), m_columns(columns) {
    for (const Bar& bar : m_bars) m_name = std::max(m_name, bar.name.size());
    m_name = std::min(m_name, std::max(m_columns / 3, k_shortest_cut_name));
    for (const std::string& text : m_texts) m_text = std::max(m_text, text.size());
  }

  // How much room there is for the bars themselves.
  std::size_t room() const {
    const std::size_t taken = m_name + m_text + std::string_view(" [] ").size();
    return m_columns > taken ? std::min(m_columns - taken, k_widest_bar) : 0;
  }

  std::vector<std::string> lines_with_bars() const {
    return lines([&](const Bar& bar, const std::string& text) {
      return fmt::format("{:<{}} {} {}", bar.name.substr(0, m_name), m_name, drawn(bar, room()), text);
    });
  }

  // The text at the right edge and of the name what is left.
  std::vector<std::string> lines_without() const {
    const std::size_t name = m_columns > m_text + 1 ? std::min(m_name, m_columns - m_text - 1) : 0;
    return lines([&](const Bar& bar, const std::string& text) {
      const std::string line = fmt::format("{:<{}} {:>{}}", bar.name.substr(0, name), name, text, m_text);
      return name == 0 ? text.substr(0, m_columns) : line;
    });
  }

 private:
  template <class F>
  std::vector<std::string> lines(F line) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < m_bars.size(); ++i) lines.push_back(line(m_bars[i], m_texts[i]));
    return lines;
  }

  std::vector<Bar> m_bars;
  std::vector<std::string> m_texts;
  std::size_t m_columns;
  std::size_t m_name = 0;
  std::size_t m_text = 0;
};

std::vector<Bar> shown_bars(const redist::InstallProgress& progress, std::size_t rows) {
  // The total needs a line, and one is left for whoever writes between two drawings.
  const std::size_t most = rows > 2 ? rows - 2 : 0;
  std::vector<Bar> shown;
  for (const redist::ComponentProgress& running : progress.running) {
    if (shown.size() == most) break;
    shown.push_back({base::escaped(running.component->component->name), running.component->archive.size,
                     running.received, running.unpacked});
  }
  // What had been fetched before this run counts as received.
  const std::uint64_t missing = progress.to_fetch - std::min(progress.received, progress.to_fetch);
  shown.push_back({fmt::format("total {}/{}", progress.finished, progress.count), progress.total,
                   progress.total - std::min(missing, progress.total), progress.unpacked});
  return shown;
}

}  // namespace

void Rate::add(Time now, std::uint64_t amount) {
  m_seen.emplace_back(now, amount);
  while (m_seen.size() > 2 && now - m_seen[1].first >= k_window) m_seen.pop_front();
}

std::optional<double> Rate::per_second() const {
  if (m_seen.empty()) return std::nullopt;
  const auto& [first, was] = m_seen.front();
  const auto& [last, is] = m_seen.back();
  const double seconds = std::chrono::duration<double>(last - first).count();
  if (seconds < k_least_seconds || is < was) return std::nullopt;
  return static_cast<double>(is - was) / seconds;
}

std::vector<std::string> bars(const redist::InstallProgress& progress, std::optional<double> received,
                              std::optional<double> unpacked, base::TerminalSize size) {
  const std::vector<Bar> shown = shown_bars(progress, size.rows);
  const std::size_t columns = size.columns > 0 ? size.columns - 1 : 0;
  const auto with = [&](Detail detail) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i + 1 < shown.size(); ++i) texts.push_back(text_of(shown[i], detail));
    texts.push_back(text_of_total(progress, received, unpacked, detail));
    return Columns(shown, std::move(texts), columns);
  };
  for (const Detail detail : {Detail::all, Detail::some, Detail::least})
    if (const Columns lines = with(detail); lines.room() >= k_narrowest_bar) return lines.lines_with_bars();
  return with(Detail::least).lines_without();
}

}  // namespace cudaenv::installer
