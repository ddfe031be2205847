// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudaenv::redist {

// Called with the bytes received so far, also while nothing arrives; returning false interrupts
// (ErrorKind::interrupted).
using Progress = std::function<bool(std::uint64_t received)>;

// Takes the next bytes of a body; an error ends the transfer and is what the transfer returns.
using Sink = std::function<Result<void>(std::string_view bytes)>;

// How bytes arrive. One implementation over libcurl (https, http), one over a directory. Not for several threads
// at once. Errors: not_found for 404 and 410 or an absent file, integrity for a body that is complete but of a
// wrong size, network (or filesystem) for everything else, each naming the address without credentials. What a
// server sends along with an error never reaches a caller.
class Transport {
 public:
  virtual ~Transport() = default;

  // The body of a small resource, at most `most` bytes; more is ErrorKind::integrity.
  [[nodiscard]] virtual Result<std::string> text(std::string_view relative, std::uint64_t most) = 0;

  // The names that the base's index page (or the directory) lists, unsorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> index() = 0;

  // Streams a body of exactly `size` bytes into `sink`; more or fewer is ErrorKind::integrity, a connection that
  // breaks is ErrorKind::network. `progress` may be empty.
  [[nodiscard]] virtual Result<void> stream(std::string_view relative, std::uint64_t size, const Sink& sink,
                                            const Progress& progress) = 0;
};

struct TransportOptions {
  std::chrono::milliseconds connect_timeout{30'000};
  std::chrono::seconds idle_timeout{30};  // without a byte; there is no limit to the whole
  int retries = 3;                        // after the first try, of what may go better the next time
  std::chrono::milliseconds pause{500};   // before the first retry; doubled for each further one
  std::function<bool()> keep_going = {};  // asked while waiting; false interrupts
};

struct Location;

[[nodiscard]] std::unique_ptr<Transport> open_transport(const Location& location, TransportOptions options = {});

}  // namespace cudaenv::redist
