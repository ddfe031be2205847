// SPDX-License-Identifier: Apache-2.0
#include "redist/transfer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

constexpr int k_most_redirects = 10;
constexpr std::uint64_t k_most_discarded = std::uint64_t{64} << 10;

}  // namespace

Transfer::Transfer(NetworkRequest request, std::shared_ptr<Body> body)
    : m_request(std::move(request)),
      m_body(std::move(body)),
      m_easy(m_request.options),
      m_shown(m_request.location.shown(m_request.relative)),
      m_url(m_request.location.resource(m_request.relative)) {
  m_easy.set(CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
  m_easy.set(CURLOPT_WRITEDATA, this);
  m_easy.set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  m_easy.set(CURLOPT_HEADERDATA, this);
}

bool Transfer::is_wanted() const {
  return m_body->is_wanted() && (!m_request.options.keep_going || m_request.options.keep_going());
}

Result<void> Transfer::prepare() {
  m_head = {};
  m_use.reset();
  m_stopped.reset();
  m_discarded = 0;
  m_asked_from = m_wants_whole ? 0 : m_body->offset();
  m_at = m_asked_from;
  m_easy.forget_reason();
  m_easy.set_address(m_url);
  // Not CURLOPT_RESUME_FROM, for then libcurl takes a whole body for an error.
  m_range = m_asked_from > 0 ? fmt::format("{}-", m_asked_from) : std::string();
  m_easy.set(CURLOPT_RANGE, m_range.empty() ? nullptr : m_range.c_str());
  m_headers.reset();
  const std::string validator = m_asked_from > 0 ? m_body->validator() : std::string();
  if (!validator.empty()) m_headers.reset(::curl_slist_append(nullptr, ("If-Range: " + validator).c_str()));
  m_easy.set(CURLOPT_HTTPHEADER, m_headers.get());
  return m_easy.check();
}

Error Transfer::wrong_size(std::optional<std::uint64_t> actual) const {
  const std::uint64_t size = m_request.size;
  Error error{ErrorKind::integrity, fmt::format("{} is larger than {}", m_shown, base::human_size(size))};
  if (m_request.is_exact && actual)
    error.message = fmt::format("{} has {} bytes, {} were expected", m_shown, *actual, size);
  if (m_request.is_exact && !actual)
    error.message = fmt::format("{} has more than the expected {} bytes", m_shown, size);
  if (m_head.is_web_page()) error.details.emplace_back("the server sent a web page: a login or error page, perhaps");
  return error;
}

Result<bool> Transfer::begin_body() {
  m_use = use_of_body(m_head, m_asked_from, m_request.size);
  if (*m_use == BodyUse::append) m_body->go_on();
  if (*m_use == BodyUse::append) return true;
  if (*m_use != BodyUse::whole) return false;
  const bool is_wrong =
      m_head.length && (m_request.is_exact ? *m_head.length != m_request.size : *m_head.length > m_request.size);
  if (is_wrong) return fail(wrong_size(m_head.length));
  if (m_request.is_exact && m_head.is_web_page() && !m_head.length)
    return fail(ErrorKind::integrity, fmt::format("{} is a web page and no archive", m_shown), {},
                {"a login or error page, perhaps"});
  m_at = 0;
  CUDAENV_CHECK(m_body->restart(m_head));
  return true;
}

// Returns how many bytes were taken; any other number than theirs ends the transfer.
std::size_t Transfer::take(std::string_view bytes) {
  const std::size_t stop = bytes.size() + 1;
  if (!m_use) {
    if (auto begun = begin_body(); !begun) {
      m_stopped = std::move(begun).error();
      return stop;
    }
  }
  if (*m_use == BodyUse::none || *m_use == BodyUse::unfitting) {
    m_discarded += bytes.size();
    return m_discarded <= k_most_discarded ? bytes.size() : stop;
  }
  if (bytes.size() > m_request.size - m_at) {
    m_stopped = wrong_size(std::nullopt);
    return stop;
  }
  if (auto taken = m_body->take(bytes); !taken) {
    m_stopped = std::move(taken).error();
    return stop;
  }
  m_at += bytes.size();
  return bytes.size();
}

// What of ours throws does so for want of memory.
std::size_t Transfer::on_bytes(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    return transfer.take(std::string_view(bytes, count));
  } catch (...) {
    transfer.m_stopped.emplace();
    transfer.m_stopped->kind = ErrorKind::internal;
    return count + 1;
  }
}

std::size_t Transfer::on_header(char* line, std::size_t, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    transfer.m_head.take_line(std::string_view(line, count));
    return count;
  } catch (...) {
    transfer.m_stopped.emplace();
    transfer.m_stopped->kind = ErrorKind::internal;
    return count + 1;
  }
}

Transfer::Next Transfer::ended(Result<void> outcome) {
  end(std::move(outcome));
  return {Next::Step::ended};
}

void Transfer::end_as_interrupted() {
  end(fail(ErrorKind::interrupted, fmt::format("interrupted while downloading {}", m_shown)));
}

// A try ends: the next one begins at the address that was asked for, not at where it was sent.
void Transfer::end_try() {
  m_tries.add(m_at - std::min(m_at, m_furthest));
  m_furthest = std::max(m_furthest, m_at);
  m_redirects = 0;
  m_url = m_request.location.resource(m_request.relative);
}

Transfer::Next Transfer::failed(Failure failure, double chance) {
  end_try();
  const auto pause =
      failure.may_pass ? next_pause(m_request.options.retry, m_tries, failure.asked_for, chance) : std::nullopt;
  if (pause) return {Next::Step::again, *pause};
  if (m_tries.count > 1) failure.error.details.push_back(fmt::format("tried {} times", m_tries.count));
  return ended(fail(std::move(failure.error)));
}

Transfer::Next Transfer::go_on_at(std::string_view address) {
  if (++m_redirects > k_most_redirects)
    return ended(fail(ErrorKind::network, fmt::format("cannot download {}: the server redirects more than {} times",
                                                      m_shown, k_most_redirects)));
  std::string next(address);
  if (auto allowed = check_redirect(m_url, next, m_request.location.plain_http); !allowed)
    return ended(fail(std::move(allowed).error().during(fmt::format("for {}", m_shown))));
  m_url = std::move(next);
  return {Next::Step::again};
}

Transfer::Next Transfer::finish(CURLcode code, double chance) {
  if (m_stopped) {
    if (m_stopped->message.empty()) m_stopped->message = "a download failed, perhaps for want of memory";
    return ended(fail(std::move(*m_stopped)));
  }
  if (const std::string_view next = m_easy.text(CURLINFO_REDIRECT_URL); !next.empty()) return go_on_at(next);
  // An empty body never came to take().
  if (code == CURLE_OK && !m_use) {
    if (auto begun = begin_body(); !begun) return ended(fail(std::move(begun).error()));
  }
  // All is here, however the body ended.
  const bool is_of_use = m_use == BodyUse::append || m_use == BodyUse::whole;
  if (m_request.is_exact && is_of_use && m_at == m_request.size) return ended({});
  if (m_use == BodyUse::unfitting || (m_asked_from > 0 && m_head.status == 416)) {
    m_wants_whole = true;
    return failed({{ErrorKind::network,
                    fmt::format("cannot download {}: the server sent another part of it than was asked for (status {})",
                                m_shown, m_head.status)},
                   true},
                  0);
  }
  if (m_head.status > 0) *m_request.has_answered = true;
  const auto server = *m_request.has_answered ? EasyHandle::Server::seen : EasyHandle::Server::unknown;
  if (m_head.status > 200 && !is_of_use) return failed(m_easy.bad_status(m_head, m_shown), chance);
  if (code != CURLE_OK) return failed(m_easy.bad_transfer(code, m_shown, server), chance);
  if (!is_of_use) return failed(m_easy.bad_status(m_head, m_shown), chance);
  if (!m_request.is_exact) return ended({});
  // Without a length nobody can tell a body that was cut from one that is whole.
  if (!m_head.length && !m_head.is_chunked)
    return failed({{ErrorKind::network,
                    fmt::format("cannot download {}: it ended after {} of {} bytes", m_shown, m_at, m_request.size)},
                   true},
                  chance);
  return ended(fail(wrong_size(m_at)));
}

}  // namespace cudaenv::redist
