// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace cudaenv::redist {

// How often and when a request is made again after a failure that may pass.
struct RetryPolicy {
  int retries = 4;                       // after the first try, each without progress
  std::chrono::milliseconds pause{500};  // before the first retry; doubled for each further one
  std::chrono::milliseconds longest{30'000};
};

// What has been tried so far.
struct Tries {
  int count = 0;    // all of them
  int in_vain = 0;  // those since something came of one
  // A try has ended that brought so many bytes.
  void add(std::uint64_t bytes);
};

// How long to wait before the next try, or nothing if there should be none. Half of a pause is fixed and half random
// (`chance`, 0 to 1), so that many clients do not come back at once. What the server asks for counts where it is
// longer, up to a minute.
std::optional<std::chrono::milliseconds> next_pause(const RetryPolicy& policy, const Tries& tries,
                                                    std::optional<std::chrono::seconds> asked_for, double chance);

}  // namespace cudaenv::redist
