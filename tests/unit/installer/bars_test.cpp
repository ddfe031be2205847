// SPDX-License-Identifier: Apache-2.0
#include "installer/bars.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace cudaenv::installer {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint64_t k_mega = 1'000'000;
constexpr std::uint64_t k_exa = 1'000'000'000'000'000'000;

struct Running {
  std::string name;
  std::uint64_t size;
  std::uint64_t received;
  std::uint64_t unpacked;
};

// An installation that fetches all it needs; owns what the progress points to.
class State {
 public:
  explicit State(const std::vector<Running>& running) {
    m_components.reserve(running.size());
    m_planned.reserve(running.size());
    for (const Running& one : running) {
      m_components.emplace_back().name = one.name;
      core::PlannedComponent planned{&m_components.back(), {}, nullptr};
      planned.archive.size = one.size;
      m_planned.push_back(planned);
      progress.running.push_back({&m_planned.back(), one.received, one.unpacked});
    }
    progress.count = 17;
    progress.finished = 3;
  }

  State& totals(std::uint64_t received, std::uint64_t to_fetch, std::uint64_t unpacked, std::uint64_t total) {
    progress.received = received;
    progress.to_fetch = to_fetch;
    progress.unpacked = unpacked;
    progress.total = total;
    return *this;
  }

  redist::InstallProgress progress;

 private:
  std::vector<core::Component> m_components;
  std::vector<core::PlannedComponent> m_planned;
};

State two_running() {
  State state(
      {{"libcublas", 800 * k_mega, 400 * k_mega, 200 * k_mega}, {"cuda_nvcc", 80 * k_mega, 80 * k_mega, 20 * k_mega}});
  state.totals(1000 * k_mega, 2000 * k_mega, 800 * k_mega, 2000 * k_mega);
  return state;
}

TEST(bars, show_components_and_the_total_with_rate_and_time) {
  const State state = two_running();
  EXPECT_EQ(bars(state.progress, 50e6, 20e6, {100, 24}),
            (Lines{"libcublas  [=======--------               ] 400.0 MB of 800.0 MB",
                   "cuda_nvcc  [=======-----------------------] unpacking",
                   "total 3/17 [============---               ] 1.0 GB of 2.0 GB  50.0 MB/s  1 min 00 s left"}));
}

TEST(bars, say_less_where_there_is_less_room) {
  const State state = two_running();
  EXPECT_EQ(bars(state.progress, 50e6, 20e6, {60, 24}),
            (Lines{"libcublas  [====-----          ] 25%", "cuda_nvcc  [====---------------] 25%",
                   "total 3/17 [=======--          ] 40%  50.0 MB/s  1 min 00 s"}));
  EXPECT_EQ(
      bars(state.progress, 50e6, 20e6, {32, 24}),
      (Lines{"libcublas  [===----       ] 25%", "cuda_nvcc  [===-----------] 25%", "total 3/17 [=====--       ] 40%"}));
  EXPECT_EQ(bars(state.progress, 50e6, 20e6, {20, 24}), (Lines{"libcublas  25%", "cuda_nvcc  25%", "total 3/17 40%"}));
  EXPECT_EQ(bars(state.progress, 50e6, 20e6, {10, 24}), (Lines{"libcu 25%", "cuda_ 25%", "total 40%"}));
  EXPECT_EQ(bars(state.progress, 50e6, 20e6, {4, 24}), (Lines{"25%", "25%", "40%"}));
}

TEST(bars, fit_every_size_of_terminal) {
  State state({{std::string(200, 'n'), k_exa, k_exa / 3, 17}, {"", 0, 0, 0}, {"x", 1, 1, 1}, {"y\x1b[2J", 10, 20, 30}});
  state.totals(k_exa / 3, k_exa, 18, 2 * k_exa);
  state.progress.finished = 123456;
  state.progress.count = 1234567;
  for (std::size_t columns = 0; columns < 300; ++columns) {
    for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 6, 100}) {
      const Lines lines = bars(state.progress, 1e18, 1e-9, {columns, rows});
      EXPECT_EQ(lines.size(), std::clamp<std::size_t>(rows, 2, 6) - 1);
      for (const std::string& line : lines) {
        EXPECT_LE(line.size(), columns == 0 ? 0 : columns - 1) << line;
        EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) << line;
      }
    }
  }
}

TEST(bars, of_many_components_the_first_are_shown) {
  const State state({{"a", 1, 0, 0}, {"b", 1, 0, 0}, {"c", 1, 0, 0}});
  const Lines lines = bars(state.progress, {}, {}, {80, 4});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("a "));
  EXPECT_TRUE(lines[1].starts_with("b "));
  EXPECT_TRUE(lines[2].starts_with("total "));
}

TEST(bars, what_has_no_size_is_full) {
  State state({{"empty", 0, 0, 0}});
  state.totals(0, 0, 0, 0);
  EXPECT_EQ(bars(state.progress, {}, {}, {60, 24}),
            (Lines{"empty      [=========================] unpacking",
                   "total 3/17 [=========================] unpacking 0 B of 0 B"}));
}

TEST(bars, what_was_here_before_counts_as_received_in_the_total) {
  State state({});
  state.totals(0, 500 * k_mega, 0, 1000 * k_mega);
  EXPECT_EQ(bars(state.progress, {}, {}, {80, 24}),
            (Lines{"total 3/17 [---------------               ] 0 B of 500.0 MB"}));
}

std::string total_line(const State& state, std::optional<double> received, std::optional<double> unpacked) {
  return bars(state.progress, received, unpacked, {100, 24}).back().substr(44);
}

TEST(bars, rate_and_time_only_where_they_mean_something) {
  State state({});
  state.totals(100 * k_mega, 200 * k_mega, 90 * k_mega, 200 * k_mega);
  EXPECT_EQ(total_line(state, {}, {}), "100.0 MB of 200.0 MB");
  EXPECT_EQ(total_line(state, 0.0, 1e6), "100.0 MB of 200.0 MB  0 B/s");
  EXPECT_EQ(total_line(state, 1e6, {}), "100.0 MB of 200.0 MB  1.0 MB/s");
  EXPECT_EQ(total_line(state, 1e6, 1e6), "100.0 MB of 200.0 MB  1.0 MB/s  1 min 50 s left");  // unpacking is behind
  EXPECT_EQ(total_line(state, 1e6, 1e9), "100.0 MB of 200.0 MB  1.0 MB/s  1 min 40 s left");
  EXPECT_EQ(total_line(state, 1e7, 1e9), "100.0 MB of 200.0 MB  10.0 MB/s  10 s left");
  EXPECT_EQ(total_line(state, 1e4, 1e9), "100.0 MB of 200.0 MB  10.0 kB/s  2 h 46 min left");
  EXPECT_EQ(total_line(state, 1.0, 1e9), "100.0 MB of 200.0 MB  1 B/s");  // three years are no help
  state.totals(200 * k_mega, 200 * k_mega, 90 * k_mega, 200 * k_mega);
  EXPECT_EQ(total_line(state, 1e6, 1e7), "unpacking 90.0 MB of 200.0 MB  11 s left");
}

TEST(bars, a_rate_needs_a_second_and_forgets_what_is_long_ago) {
  Rate rate;
  Rate::Time now{};
  EXPECT_FALSE(rate.per_second());
  rate.add(now, 0);
  EXPECT_FALSE(rate.per_second());
  rate.add(now += std::chrono::milliseconds(900), 900);
  EXPECT_FALSE(rate.per_second());
  rate.add(now += std::chrono::milliseconds(100), 1000);
  EXPECT_DOUBLE_EQ(rate.per_second().value(), 1000);
  for (int i = 0; i < 60; ++i) rate.add(now += std::chrono::milliseconds(100), 1000);
  EXPECT_DOUBLE_EQ(rate.per_second().value(), 0);
  rate.add(now += std::chrono::hours(10), 1000);  // the machine slept
  rate.add(now += std::chrono::seconds(2), 3000);
  EXPECT_LT(rate.per_second().value(), 1);
  for (int i = 0; i < 50; ++i) rate.add(now += std::chrono::milliseconds(100), 3000);
  EXPECT_DOUBLE_EQ(rate.per_second().value(), 0);
  rate.add(now += std::chrono::seconds(1), 0);  // begun anew
  EXPECT_FALSE(rate.per_second());
}

}  // namespace
}  // namespace cudaenv::installer
