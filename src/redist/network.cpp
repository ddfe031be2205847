// SPDX-License-Identifier: Apache-2.0
#include "redist/network.hpp"

#include <algorithm>
#include <list>
#include <random>

#include "redist/transfer.hpp"

namespace cudaenv::redist {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_slice{50};  // between two looks at whether it is all still wanted

struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { ::curl_multi_cleanup(multi); }
};

}  // namespace

// The transfers under way; lives in the network's thread.
class Network::Loop {
 public:
  Loop() : m_multi(start_libcurl() == CURLE_OK ? ::curl_multi_init() : nullptr) {
    // One connection each: several archives over one would share its window.
    if (m_multi) (void)::curl_multi_setopt(m_multi.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  }
  ~Loop() {
    for (Entry& entry : m_entries)
      if (entry.is_running) (void)::curl_multi_remove_handle(m_multi.get(), entry.transfer->handle());
  }

  void add(Queued queued) {
    m_entries.push_back({std::make_unique<Transfer>(std::move(queued.request), std::move(queued.body))});
  }
  bool is_empty() const { return m_entries.empty(); }

  void turn() {
    begin_what_is_due();
    int running = 0;
    if (m_multi) (void)::curl_multi_perform(m_multi.get(), &running);
    end_what_is_done();
    drop_what_is_not_wanted();
  }

  void wait() {
    auto until = Clock::now() + k_slice;
    for (const Entry& entry : m_entries)
      if (!entry.is_running) until = std::min(until, entry.due);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (m_multi && !m_entries.empty() && left.count() > 0)
      (void)::curl_multi_poll(m_multi.get(), nullptr, 0, static_cast<int>(left.count()), nullptr);
  }

  void wake() {
    if (m_multi) (void)::curl_multi_wakeup(m_multi.get());
  }

  void interrupt_all() {
    for (Entry& entry : m_entries) {
      if (entry.is_running) (void)::curl_multi_remove_handle(m_multi.get(), entry.transfer->handle());
      entry.transfer->end_as_interrupted();
    }
    m_entries.clear();
  }

 private:
  struct Entry {
    std::unique_ptr<Transfer> transfer;
    Clock::time_point due = {};  // of the next request
    bool is_running = false;
    bool is_over = false;
  };

  void begin_what_is_due() {
    const auto now = Clock::now();
    for (Entry& entry : m_entries) {
      if (entry.is_running || entry.due > now) continue;
      auto prepared = entry.transfer->prepare();
      const bool is_added =
          prepared && m_multi && ::curl_multi_add_handle(m_multi.get(), entry.transfer->handle()) == CURLM_OK;
      if (is_added) {
        entry.is_running = true;
        continue;
      }
      entry.transfer->end(prepared ? fail(ErrorKind::internal, "libcurl cannot be used") : std::move(prepared));
      entry.is_over = true;
    }
    remove_what_is_over();
  }

  void end_what_is_done() {
    int left = 0;
    while (const CURLMsg* message = m_multi ? ::curl_multi_info_read(m_multi.get(), &left) : nullptr) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto entry = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& candidate) {
        return candidate.transfer->handle() == message->easy_handle;
      });
      (void)::curl_multi_remove_handle(m_multi.get(), message->easy_handle);
      if (entry == m_entries.end()) continue;
      entry->is_running = false;
      const Transfer::Next next = entry->transfer->finish(code, m_chance(m_random));
      entry->is_over = next.step == Transfer::Next::Step::ended;
      entry->due = Clock::now() + next.pause;
    }
    remove_what_is_over();
  }

  void drop_what_is_not_wanted() {
    for (Entry& entry : m_entries) {
      if (entry.transfer->is_wanted()) continue;
      if (entry.is_running) (void)::curl_multi_remove_handle(m_multi.get(), entry.transfer->handle());
      entry.transfer->end_as_interrupted();
      entry.is_over = true;
    }
    remove_what_is_over();
  }

  void remove_what_is_over() {
    m_entries.remove_if([](const Entry& entry) { return entry.is_over; });
  }

  std::unique_ptr<CURLM, FreeMulti> m_multi;
  std::list<Entry> m_entries;
  std::minstd_rand m_random{std::random_device{}()};
  std::uniform_real_distribution<double> m_chance{0, 1};
};

std::shared_ptr<Network> Network::shared() {
  static std::mutex mutex;
  static std::weak_ptr<Network> network;
  const std::lock_guard lock(mutex);
  auto found = network.lock();
  if (!found) network = found = std::make_shared<Network>();
  return found;
}

Network::~Network() {
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
    if (m_loop) m_loop->wake();
  }
  if (m_thread.joinable()) m_thread.join();
}

void Network::start(NetworkRequest request, std::shared_ptr<Body> body) {
  const std::lock_guard lock(m_mutex);
  m_queue.push_back({std::move(request), std::move(body)});
  if (!m_loop) m_loop = std::make_unique<Loop>();
  if (m_runs) return m_loop->wake();
  if (m_thread.joinable()) m_thread.join();  // it has nothing more to do
  m_runs = true;
  m_thread = std::thread([this] { run(); });
}

void Network::run() {
  while (true) {
    {
      const std::lock_guard lock(m_mutex);
      for (Queued& queued : m_queue) m_loop->add(std::move(queued));
      m_queue.clear();
      if (m_ends) m_loop->interrupt_all();
      if (m_loop->is_empty()) {
        m_runs = false;
        return;
      }
    }
    m_loop->turn();
    m_loop->wait();
  }
}

}  // namespace cudaenv::redist
