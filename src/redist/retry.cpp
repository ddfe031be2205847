// SPDX-License-Identifier: Apache-2.0
#include "redist/retry.hpp"

#include <algorithm>

namespace cudaenv::redist {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t k_progress = std::uint64_t{64} << 10;  // bytes; less is no reason to go on for ever
constexpr int k_most_tries = 1000;
constexpr milliseconds k_longest_asked{60'000};

}  // namespace

void Tries::add(std::uint64_t bytes) {
  ++count;
  in_vain = bytes >= k_progress ? 1 : in_vain + 1;
}

std::optional<milliseconds> next_pause(const RetryPolicy& policy, const Tries& tries,
                                       std::optional<std::chrono::seconds> asked_for, double chance) {
  if (tries.in_vain > policy.retries || tries.count >= k_most_tries) return std::nullopt;
  const int doublings = std::clamp(tries.in_vain - 1, 0, 20);
  const milliseconds full = std::min(policy.longest, policy.pause * (std::int64_t{1} << doublings));
  const milliseconds pause =
      full / 2 + milliseconds(static_cast<std::int64_t>(static_cast<double>(full.count()) / 2 * chance));
  if (!asked_for) return pause;
  return std::max(pause, std::min<milliseconds>(*asked_for, k_longest_asked));
}

}  // namespace cudaenv::redist
