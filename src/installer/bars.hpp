// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "redist/install_observer.hpp"

namespace cudaenv::installer {

// How fast an amount grows, by its last seconds.
class Rate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time now, std::uint64_t amount);
  // Nothing until there is a second to tell it by.
  std::optional<double> per_second() const;

 private:
  std::deque<std::pair<Time, std::uint64_t>> m_seen;
};

// An installation under way in lines of plain ASCII that fit a terminal of that size: one for each running component,
// as many as there is room for, and the total at the end. Of a bar, `=` is unpacked and `-` has been received.
// `received` and `unpacked` are bytes a second, where they are known.
std::vector<std::string> bars(const redist::InstallProgress& progress, std::optional<double> received,
                              std::optional<double> unpacked, base::TerminalSize size);

}  // namespace cudaenv::installer
