// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "loopback_server.hpp"
#include "redist/location.hpp"
#include "redist/transport.hpp"
#include "scratch.hpp"

namespace cudaenv::redist {

using test::chunked;
using test::LoopbackServer;
using test::redirect;
using test::Reply;
using test::reply;
using test::told;
using namespace std::chrono_literals;

// A body that is collected, to be continued or not.
class CollectedBody final : public Body {
 public:
  explicit CollectedBody(std::function<bool(std::uint64_t)> wanted) : m_wanted(std::move(wanted)) {}

  std::string text;
  std::string validator_text;
  bool can_go_on = true;
  int restarts = 0;
  int continuations = 0;
  std::function<Result<void>(std::string_view)> sink = {};  // in place of text

  std::uint64_t offset() const override { return can_go_on ? text.size() : 0; }
  std::string validator() const override { return validator_text; }
  bool is_wanted() const override { return !m_wanted || m_wanted(text.size()); }
  void go_on() override { ++continuations; }
  Result<void> restart(const ResponseHead& head) override {
    ++restarts;
    text.clear();
    validator_text = validator_of(head);
    return {};
  }
  Result<void> take(std::string_view bytes) override {
    if (sink) return sink(bytes);
    text += bytes;
    return {};
  }
  void end(Result<void> outcome) override { m_outcome.set_value(std::move(outcome)); }
  Result<void> wait() { return m_outcome.get_future().get(); }

 private:
  std::function<bool(std::uint64_t)> m_wanted;
  std::promise<Result<void>> m_outcome;
};

// Seals what libcurl takes from the environment: proxies, certificates, netrc.
class CurlTransportTest : public testing::Test {
 protected:
  CurlTransportTest() {
    for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
                             "NO_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "HOME"})
      set(name, nullptr);
    set("HOME", m_home.path().c_str());
  }
  ~CurlTransportTest() override {
    for (const auto& [name, value] : m_before) change(name, value ? value->c_str() : nullptr);
  }

  // Sets a variable, or removes it, for this test.
  void set(const std::string& name, const char* value) {
    const char* const before = std::getenv(name.c_str());
    m_before.emplace(name, before ? std::optional<std::string>(before) : std::nullopt);
    change(name, value);
  }

  static TransportOptions quick(int retries = 0) {
    return {.connect_timeout = 2s, .idle_timeout = 1s, .retry = {.retries = retries, .pause = 1ms}};
  }
  static std::unique_ptr<Transport> transport(const std::string& url, TransportOptions options = quick()) {
    const auto location = parse_location(url, PlainHttp::on_loopback, "/");
    EXPECT_TRUE(location) << url;
    return open_transport(*location, std::move(options));
  }

  // Brings "file" and keeps what came of it. `progress`: whether it is wanted still, having so many bytes.
  Result<void> stream(Transport& from, std::uint64_t size, std::function<bool(std::uint64_t)> progress = {}) {
    m_body = std::make_shared<CollectedBody>(std::move(progress));
    from.begin("file", size, m_body);
    auto outcome = m_body->wait();
    m_received = m_body->text;
    return outcome;
  }

  std::shared_ptr<CollectedBody> m_body;
  test::Scratch m_home;
  std::string m_received;

 private:
  static void change(const std::string& name, const char* value) {
    if (value)
      ::setenv(name.c_str(), value, 1);
    else
      ::unsetenv(name.c_str());
  }

  std::map<std::string, std::optional<std::string>> m_before;
};

inline std::string first_line(const std::string& request) { return request.substr(0, request.find("\r\n")); }

// Answers the first request in one way and all further ones in another.
inline LoopbackServer::Answer first_then(Reply first, Reply rest) {
  return [first = std::move(first), rest = std::move(rest), is_first = true](const std::string&) mutable {
    return std::exchange(is_first, false) ? first : rest;
  };
}

inline LoopbackServer::Answer always(Reply answer) {
  return [answer = std::move(answer)](const std::string&) { return answer; };
}

// Breaks off in the middle.
inline const char* const k_truncated = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5";

}  // namespace cudaenv::redist
