// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "redist/http_response.hpp"
#include "redist/retry.hpp"

namespace cudaenv::redist {

// Where a body goes that comes over the network. Called by one thread at a time, which is not the one that began it.
class Body {
 public:
  virtual ~Body() = default;

  // Bytes that are here already: what follows them is asked for. Always 0 for what cannot be continued.
  virtual std::uint64_t offset() const = 0;
  // What the server said of the thing that those bytes are of (validator_of), if it was this server; else empty.
  virtual std::string validator() const = 0;
  // Whether anybody still waits for it.
  virtual bool is_wanted() const = 0;

  // The rest follows, from another answer than what is here.
  virtual void go_on() = 0;
  // A whole body follows: whatever is here counts no more.
  [[nodiscard]] virtual Result<void> restart(const ResponseHead& head) = 0;
  // The next bytes, never more than were asked for. An error ends the transfer and is what it ends with.
  [[nodiscard]] virtual Result<void> take(std::string_view bytes) = 0;
  // All is here, or why not. The last call.
  virtual void end(Result<void> outcome) = 0;
};

// How bytes arrive. One implementation over libcurl (https, http), one over a directory. Errors: not_found for 404 and
// 410 or an absent file, integrity for a body that is complete but of a wrong size, network (or filesystem) for
// everything else, each naming the address without credentials. What a server sends along with an error never reaches
// a caller.
class Transport {
 public:
  virtual ~Transport() = default;

  // The body of a small resource, at most `most` bytes; more is ErrorKind::integrity.
  [[nodiscard]] virtual Result<std::string> text(std::string_view relative, std::uint64_t most) = 0;

  // The names that the base's index page (or the directory) lists, unsorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> index() = 0;

  // Something of exactly `size` bytes that lies on this machine, open for reading; nothing where it has to come over
  // the network.
  [[nodiscard]] virtual Result<std::optional<base::Fd>> open(std::string_view relative, std::uint64_t size) = 0;

  // Begins to bring something of exactly `size` bytes over the network, and returns at once. More or fewer bytes end it
  // with ErrorKind::integrity, a connection that breaks for good with ErrorKind::network.
  virtual void begin(std::string_view relative, std::uint64_t size, std::shared_ptr<Body> body) = 0;
};

struct TransportOptions {
  std::chrono::milliseconds connect_timeout{30'000};
  std::chrono::seconds idle_timeout{30};  // without a byte; there is no limit to the whole
  RetryPolicy retry = {};
  std::function<bool()> keep_going = {};  // asked while waiting, by any thread; false interrupts
};

struct Location;

[[nodiscard]] std::unique_ptr<Transport> open_transport(const Location& location, TransportOptions options = {});

}  // namespace cudaenv::redist
