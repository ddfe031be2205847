// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redist/curl_easy.hpp"
#include "redist/network.hpp"

namespace cudaenv::redist {

// One body on its way, over all tries and redirects. What goes wrong in a callback of libcurl's is kept here, since
// neither an exception nor an Error can travel through C.
class Transfer {
 public:
  Transfer(NetworkRequest request, std::shared_ptr<Body> body);

  CURL* handle() const { return m_easy.get(); }
  bool is_wanted() const;

  // Makes the handle ready for the next request of it.
  [[nodiscard]] Result<void> prepare();

  // What is to be done when a request has ended.
  struct Next {
    enum class Step { ended, again } step;
    std::chrono::milliseconds pause{0};
  };
  // `chance`: next_pause.
  Next finish(CURLcode code, double chance);

  // Tells the body; the last thing that happens to a transfer.
  void end(Result<void> outcome) { m_body->end(std::move(outcome)); }
  void end_as_interrupted();

 private:
  std::size_t take(std::string_view bytes);
  Result<bool> begin_body();  // whether its bytes are of use
  Error wrong_size(std::optional<std::uint64_t> actual) const;
  Next ended(Result<void> outcome);
  Next failed(Failure failure, double chance);
  Next go_on_at(std::string_view address);
  void end_try();

  static std::size_t on_bytes(char* bytes, std::size_t, std::size_t count, void* self) noexcept;
  static std::size_t on_header(char* line, std::size_t, std::size_t count, void* self) noexcept;

  NetworkRequest m_request;
  std::shared_ptr<Body> m_body;
  EasyHandle m_easy;
  const std::string m_shown;  // what is fetched, for messages
  std::string m_url;          // where the next request goes
  int m_redirects = 0;
  Tries m_tries;
  bool m_wants_whole = false;  // a server's parts were of no use

  struct FreeList {
    void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
  };

  // Of the request under way.
  std::unique_ptr<curl_slist, FreeList> m_headers;
  std::string m_range;
  std::uint64_t m_asked_from = 0;
  ResponseHead m_head;
  std::optional<BodyUse> m_use;
  std::uint64_t m_at = 0;        // bytes of the whole that are here
  std::uint64_t m_furthest = 0;  // as far as any try has got
  std::uint64_t m_discarded = 0;
  std::optional<Error> m_stopped;  // why a callback ended it
};

}  // namespace cudaenv::redist
