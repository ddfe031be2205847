// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/result.hpp"
#include "redist/http_response.hpp"
#include "redist/transport.hpp"

namespace cudaenv::redist {

// Why a request failed.
struct Failure {
  Error error;
  bool may_pass = false;                                         // worth another try
  std::optional<std::chrono::seconds> asked_for = std::nullopt;  // how long the server wants to be left alone
};

// One of libcurl's handles, set up as every request of ours is: certificates, proxies and netrc as the curl program
// has them, no redirect followed without being asked, no limit to the whole.
class EasyHandle {
 public:
  explicit EasyHandle(const TransportOptions& options);

  CURL* get() const { return m_easy.get(); }

  template <class T>
  void set(CURLoption option, T value) {
    if (m_setup == CURLE_OK) m_setup = ::curl_easy_setopt(m_easy.get(), option, value);
  }
  // Whether all options could be set so far; ErrorKind::internal otherwise.
  [[nodiscard]] Result<void> check() const;

  // Where the next request goes, past the proxy if the environment says so.
  void set_address(const std::string& url);

  // Forgets the last request's words.
  void forget_reason() { m_reason[0] = '\0'; }
  long number(CURLINFO info) const;
  std::string_view text(CURLINFO info) const;

  // The failure that a status, or the end of a transfer, stands for; `shown` is what was asked for. A server that has
  // sent something before is worth waiting for when it cannot be reached.
  enum class Server { unknown, seen };
  Failure bad_status(const ResponseHead& head, std::string_view shown) const;
  Failure bad_transfer(CURLcode code, std::string_view shown, Server server) const;

  // What helps, and what to type for it.
  struct Advice {
    std::string_view text = {};
    std::string_view hint = {};
  };

 private:
  struct Free {
    void operator()(CURL* easy) const noexcept { ::curl_easy_cleanup(easy); }
  };

  void configure_trust();
  Advice certificate_advice() const;
  std::string reason(CURLcode code) const;

  CURLcode m_setup;
  std::array<char, CURL_ERROR_SIZE> m_reason{};  // libcurl writes here; outlives the handle
  std::unique_ptr<CURL, Free> m_easy;
};

// libcurl's own start, which must happen once and before any thread uses it.
CURLcode start_libcurl();

}  // namespace cudaenv::redist
