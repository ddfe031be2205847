// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "redist/location.hpp"
#include "redist/transport.hpp"

namespace cudaenv::redist {

struct NetworkRequest {
  Location location;
  std::string relative;
  std::uint64_t size;  // expected, or the most
  bool is_exact;
  TransportOptions options;
  // Whether the base has ever answered: it is then worth waiting for. Of all requests to it.
  std::shared_ptr<std::atomic<bool>> has_answered = std::make_shared<std::atomic<bool>>(false);
};

// All that this process has under way over the network: one loop of libcurl's over all transfers, in a thread that is
// there only while there are any. Redirects are followed here and not by libcurl, for only so can each step be judged:
// never from https to http, never to plain http on another machine unless allowed.
class Network {
 public:
  // The one that is in use, or a new one.
  static std::shared_ptr<Network> shared();

  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();  // what is under way ends as interrupted

  // Begins, and returns at once. `body` is told of everything that becomes of it, by the network's thread.
  void start(NetworkRequest request, std::shared_ptr<Body> body);

 private:
  class Loop;
  struct Queued {
    NetworkRequest request;
    std::shared_ptr<Body> body;
  };

  void run();

  std::mutex m_mutex;
  std::vector<Queued> m_queue;
  bool m_runs = false;
  bool m_ends = false;
  std::unique_ptr<Loop> m_loop;  // of the thread, while it runs
  std::thread m_thread;
};

}  // namespace cudaenv::redist
