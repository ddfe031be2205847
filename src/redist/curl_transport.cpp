// SPDX-License-Identifier: Apache-2.0
#include "redist/curl_transport.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "redist/index_page.hpp"
#include "redist/network.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::uint64_t k_largest_index = std::uint64_t{16} << 20;

// A body that is collected, for whoever waits for it.
class TextBody final : public Body {
 public:
  std::uint64_t offset() const override { return 0; }
  std::string validator() const override { return {}; }
  bool is_wanted() const override { return true; }

  void go_on() override {}
  Result<void> restart(const ResponseHead&) override {
    m_text.clear();
    return {};
  }
  Result<void> take(std::string_view bytes) override {
    m_text += bytes;
    return {};
  }
  void end(Result<void> outcome) override {
    const std::lock_guard lock(m_mutex);
    m_outcome = std::move(outcome);
    m_has_ended.notify_all();
  }

  Result<std::string> wait() {
    std::unique_lock lock(m_mutex);
    m_has_ended.wait(lock, [this] { return m_outcome.has_value(); });
    if (!*m_outcome) return fail(std::move(*m_outcome).error());
    return std::move(m_text);
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_has_ended;
  std::string m_text;
  std::optional<Result<void>> m_outcome;
};

class CurlTransport final : public Transport {
 public:
  CurlTransport(Location location, TransportOptions options)
      : m_location(std::move(location)), m_options(std::move(options)), m_network(Network::shared()) {}

  Result<std::string> text(std::string_view relative, std::uint64_t most) override {
    const auto body = std::make_shared<TextBody>();
    m_network->start({m_location, std::string(relative), most, false, m_options, m_has_answered}, body);
    return body->wait();
  }

  Result<std::vector<std::string>> index() override {
    CUDAENV_TRY(page, text({}, k_largest_index));
    return linked_names(page);
  }

  Result<std::optional<base::Fd>> open(std::string_view, std::uint64_t) override { return std::nullopt; }

  void begin(std::string_view relative, std::uint64_t size, std::shared_ptr<Body> body) override {
    m_network->start({m_location, std::string(relative), size, true, m_options, m_has_answered}, std::move(body));
  }

 private:
  Location m_location;
  TransportOptions m_options;
  std::shared_ptr<Network> m_network;
  std::shared_ptr<std::atomic<bool>> m_has_answered = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::unique_ptr<Transport> open_curl_transport(const Location& location, TransportOptions options) {
  return std::make_unique<CurlTransport>(location, std::move(options));
}

}  // namespace cudaenv::redist
