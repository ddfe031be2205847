// SPDX-License-Identifier: Apache-2.0
#include "redist/curl_transport.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "redist/index_page.hpp"

// One easy handle, kept so that connections are reused. Redirects are followed here and not by libcurl, for only
// so can each step be judged: never from https to http, never to plain http on another machine unless allowed.
// libcurl calls back for bytes and for progress; what goes wrong in a callback is kept in the Transfer, since
// neither an exception nor an Error can travel through C.

#ifndef CUDAENV_VERSION_TEXT
#define CUDAENV_VERSION_TEXT "dev"
#endif

namespace cudaenv::redist {
namespace {

constexpr int k_most_redirects = 10;
constexpr std::uint64_t k_largest_index = std::uint64_t{16} << 20;
constexpr std::uint64_t k_most_discarded = std::uint64_t{64} << 10;
constexpr long k_ok = 200;

// What helps, and what to type for it.
struct Advice {
  std::string_view text;
  std::string_view hint;
};
constexpr Advice k_login_advice{"user name and password for that host are taken from ~/.netrc",
                                "${EDITOR:-vi} ~/.netrc"};
constexpr Advice k_certificate_advice{
    "name the file with your certificate authority's certificate in SSL_CERT_FILE or CURL_CA_BUNDLE",
    "export SSL_CERT_FILE=FILE"};
constexpr Advice k_proxy_advice{"these variables say which proxy is used", "env | grep -i proxy"};

struct FreeEasy {
  void operator()(CURL* easy) const noexcept { ::curl_easy_cleanup(easy); }
};

// One body on its way, over all tries and redirects.
struct Transfer {
  std::string shown;   // what is fetched, for messages
  std::uint64_t size;  // expected, or the most
  bool is_exact;
  std::string* text;  // where the body goes: here,
  const Sink* sink;   // or here
  const Progress* progress;
  const std::function<bool()>* keep_going;

  CURL* easy = nullptr;
  std::uint64_t received = 0;
  std::uint64_t discarded = 0;
  std::optional<Error> stopped = std::nullopt;  // why a callback ended it

  // What a sink was given can't be taken back.
  bool can_restart() const { return text != nullptr || received == 0; }
  void restart() {
    if (text) text->clear();
    if (text) received = 0;
    discarded = 0;
  }

  bool take(std::string_view bytes);
  bool watch();
  // `actual` is nothing where the end was not waited for.
  Error wrong_size(std::optional<std::uint64_t> actual) const;
};

long number(CURL* easy, CURLINFO info) {
  long value = 0;
  return ::curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

std::string_view text_of(CURL* easy, CURLINFO info) {
  char* value = nullptr;
  return ::curl_easy_getinfo(easy, info, &value) == CURLE_OK && value ? std::string_view(value) : std::string_view();
}

Error Transfer::wrong_size(std::optional<std::uint64_t> actual) const {
  Error error{ErrorKind::integrity, fmt::format("{} is larger than {}", shown, base::human_size(size))};
  if (is_exact && actual) error.message = fmt::format("{} has {} bytes, {} were expected", shown, *actual, size);
  if (is_exact && !actual) error.message = fmt::format("{} has more than the expected {} bytes", shown, size);
  if (text_of(easy, CURLINFO_CONTENT_TYPE).starts_with("text/html"))
    error.details.emplace_back("the server sent a web page: a login or error page, perhaps");
  return error;
}

bool Transfer::take(std::string_view bytes) {
  if (number(easy, CURLINFO_RESPONSE_CODE) != k_ok) {
    discarded += bytes.size();
    return discarded <= k_most_discarded;
  }
  curl_off_t announced = -1;
  if (::curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced) != CURLE_OK) announced = -1;
  const auto length = static_cast<std::uint64_t>(std::max<curl_off_t>(announced, 0));
  const bool is_wrong = announced >= 0 && (is_exact ? length != size : length > size);
  if (is_wrong || bytes.size() > size - received) {
    stopped = wrong_size(is_wrong ? std::optional(length) : std::nullopt);
    return false;
  }
  if (text) {
    *text += bytes;
  } else if (auto taken = (*sink)(bytes); !taken) {
    stopped = std::move(taken).error();
    return false;
  }
  received += bytes.size();
  return true;
}

bool Transfer::watch() {
  const bool goes_on = (!progress || !*progress || (*progress)(received)) && (!*keep_going || (*keep_going)());
  if (!goes_on) stopped = Error{ErrorKind::interrupted, fmt::format("interrupted while downloading {}", shown)};
  return goes_on;
}

// What a callback of ours threw, most likely for want of memory.
void stop_by_exception(Transfer& transfer) noexcept {
  transfer.stopped.emplace();
  transfer.stopped->kind = ErrorKind::internal;
}

std::size_t take_bytes(char* bytes, std::size_t, std::size_t count, void* data) noexcept {
  auto& transfer = *static_cast<Transfer*>(data);
  try {
    return transfer.take(std::string_view(bytes, count)) ? count : count + 1;
  } catch (...) {
    stop_by_exception(transfer);
    return count + 1;
  }
}

int watch_progress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  auto& transfer = *static_cast<Transfer*>(data);
  try {
    return transfer.watch() ? 0 : 1;
  } catch (...) {
    stop_by_exception(transfer);
    return 1;
  }
}

// libcurl's own start, which must happen once and before any thread uses it.
CURLcode start_libcurl() {
  static const CURLcode status = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  return status;
}

struct Failure {
  Error error;
  bool may_pass = false;  // worth another try
};
template <class T>
using Attempt = tl::expected<T, Failure>;

tl::unexpected<Failure> failure(ErrorKind kind, std::string message, const Advice& advice = {}, bool may_pass = false) {
  Error error{kind, std::move(message), std::string(advice.hint)};
  if (!advice.text.empty()) error.details.emplace_back(advice.text);
  return tl::unexpected(Failure{std::move(error), may_pass});
}

class CurlTransport final : public Transport {
 public:
  CurlTransport(Location location, TransportOptions options)
      : m_location(std::move(location)), m_options(std::move(options)), m_setup(start_libcurl()) {
    if (m_setup == CURLE_OK) m_easy.reset(::curl_easy_init());
    if (m_setup == CURLE_OK && !m_easy) m_setup = CURLE_OUT_OF_MEMORY;
    configure();
  }

  Result<std::string> text(std::string_view relative, std::uint64_t most) override;
  Result<std::vector<std::string>> index() override;
  Result<void> stream(std::string_view relative, std::uint64_t size, const Sink& sink,
                      const Progress& progress) override;

 private:
  void configure();
  void configure_trust();
  template <class T>
  void set(CURLoption option, T value) {
    if (m_setup == CURLE_OK) m_setup = ::curl_easy_setopt(m_easy.get(), option, value);
  }

  Result<void> fetch(std::string_view relative, Transfer& transfer);
  Attempt<void> attempt(std::string_view relative, Transfer& transfer);
  // The address to go on to, if the server names one; otherwise the body has arrived.
  Attempt<std::optional<std::string>> perform(const std::string& url, Transfer& transfer);
  Result<void> pause(std::chrono::milliseconds time, Transfer& transfer) const;
  tl::unexpected<Failure> bad_status(long status, const Transfer& transfer) const;
  tl::unexpected<Failure> bad_transfer(CURLcode code, const Transfer& transfer) const;
  std::string reason(CURLcode code) const;

  Location m_location;
  TransportOptions m_options;
  CURLcode m_setup;
  std::array<char, CURL_ERROR_SIZE> m_reason{};  // libcurl writes here; outlives the handle
  std::unique_ptr<CURL, FreeEasy> m_easy;
};

void CurlTransport::configure() {
  set(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  set(CURLOPT_USERAGENT, "cudaenv/" CUDAENV_VERSION_TEXT);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(m_options.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(m_options.idle_timeout.count()));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_ERRORBUFFER, m_reason.data());
  set(CURLOPT_WRITEFUNCTION, &take_bytes);
  set(CURLOPT_XFERINFOFUNCTION, &watch_progress);
  set(CURLOPT_NOPROGRESS, 0L);
  configure_trust();
}

// As the curl program does; libcurl itself reads none of these variables. The system's store stays in force where
// it is a directory.
void CurlTransport::configure_trust() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  const char* file = variable("CURL_CA_BUNDLE");
  if (!file) {
    file = variable("SSL_CERT_FILE");
    if (const char* directory = variable("SSL_CERT_DIR")) {
      set(CURLOPT_CAPATH, directory);
      set(CURLOPT_PROXY_CAPATH, directory);
    }
  }
  if (!file) return;
  set(CURLOPT_CAINFO, file);
  set(CURLOPT_PROXY_CAINFO, file);
}

// Some of libcurl's own texts quote a proxy with its password.
std::string CurlTransport::reason(CURLcode code) const {
  const std::string_view text = m_reason.data();
  const bool is_safe = !text.empty() && text.find('@') == text.npos;
  return base::escaped(base::trimmed(is_safe ? text : std::string_view(::curl_easy_strerror(code))));
}

tl::unexpected<Failure> CurlTransport::bad_status(long status, const Transfer& transfer) const {
  if (status == 404 || status == 410)
    return failure(ErrorKind::not_found, fmt::format("there is no {} (status {})", transfer.shown, status));
  const std::string message =
      fmt::format("cannot download {}: the server answered with status {}", transfer.shown, status);
  if (status == 401 || status == 403) return failure(ErrorKind::network, message, k_login_advice);
  if (status == 407) return failure(ErrorKind::network, message, k_proxy_advice);
  return failure(ErrorKind::network, message, {}, status >= 500 || status == 408 || status == 429);
}

tl::unexpected<Failure> CurlTransport::bad_transfer(CURLcode code, const Transfer& transfer) const {
  const std::string message = fmt::format("cannot download {}: {}", transfer.shown, reason(code));
  const long proxy_status = number(m_easy.get(), CURLINFO_HTTP_CONNECTCODE);
  if (proxy_status >= 300)
    return failure(ErrorKind::network,
                   fmt::format("cannot download {}: the proxy answered with status {}", transfer.shown, proxy_status),
                   k_proxy_advice, proxy_status >= 500);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return failure(ErrorKind::network, message, k_certificate_advice);
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return failure(ErrorKind::network, message, k_proxy_advice);
    case CURLE_OPERATION_TIMEDOUT:  // a host that can't be reached won't be in a second either
      return failure(ErrorKind::network, message, {}, number(m_easy.get(), CURLINFO_REQUEST_SIZE) > 0);
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return failure(ErrorKind::network, message, {}, true);
    case CURLE_OUT_OF_MEMORY: return failure(ErrorKind::internal, message);
    default: return failure(ErrorKind::network, message);
  }
}

Attempt<std::optional<std::string>> CurlTransport::perform(const std::string& url, Transfer& transfer) {
  transfer.easy = m_easy.get();
  transfer.restart();
  m_reason[0] = '\0';
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_XFERINFODATA, &transfer);
  if (m_setup != CURLE_OK)
    return failure(ErrorKind::internal, fmt::format("libcurl cannot be used: {}", ::curl_easy_strerror(m_setup)));
  const CURLcode code = ::curl_easy_perform(m_easy.get());
  if (transfer.stopped) {
    if (transfer.stopped->message.empty()) transfer.stopped->message = "a download failed, perhaps for want of memory";
    return tl::unexpected(Failure{std::move(*transfer.stopped)});
  }
  const long status = number(m_easy.get(), CURLINFO_RESPONSE_CODE);
  if (const std::string_view next = text_of(m_easy.get(), CURLINFO_REDIRECT_URL); !next.empty())
    return std::optional(std::string(next));
  if (status > k_ok) return bad_status(status, transfer);
  if (code != CURLE_OK) return bad_transfer(code, transfer);
  if (status != k_ok) return bad_status(status, transfer);
  if (transfer.is_exact && transfer.received != transfer.size)
    return tl::unexpected(Failure{transfer.wrong_size(transfer.received)});
  return std::nullopt;
}

Attempt<void> CurlTransport::attempt(std::string_view relative, Transfer& transfer) {
  std::string url = m_location.resource(relative);
  for (int redirects = 0; redirects <= k_most_redirects; ++redirects) {
    auto next = perform(url, transfer);
    if (!next) return tl::unexpected(std::move(next).error());
    if (!*next) return {};
    if (auto allowed = check_redirect(url, **next, m_location.plain_http); !allowed)
      return tl::unexpected(Failure{std::move(allowed).error().during(fmt::format("for {}", transfer.shown))});
    url = std::move(**next);
  }
  return failure(ErrorKind::network, fmt::format("cannot download {}: the server redirects more than {} times",
                                                 transfer.shown, k_most_redirects));
}

Result<void> CurlTransport::pause(std::chrono::milliseconds time, Transfer& transfer) const {
  constexpr std::chrono::milliseconds k_slice{50};
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    if (!transfer.watch()) return fail(std::move(*transfer.stopped));
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return {};
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, k_slice));
  }
}

Result<void> CurlTransport::fetch(std::string_view relative, Transfer& transfer) {
  std::chrono::milliseconds time = m_options.pause;
  for (int tried = 1;; ++tried) {
    auto done = attempt(relative, transfer);
    if (done) return {};
    Failure failed = std::move(done).error();
    if (!failed.may_pass || !transfer.can_restart() || tried > m_options.retries) {
      if (tried > 1) failed.error.details.push_back(fmt::format("tried {} times", tried));
      return fail(std::move(failed.error));
    }
    CUDAENV_CHECK(pause(time, transfer));
    time *= 2;
  }
}

Result<std::string> CurlTransport::text(std::string_view relative, std::uint64_t most) {
  std::string body;
  Transfer transfer{.shown = m_location.shown(relative),
                    .size = most,
                    .is_exact = false,
                    .text = &body,
                    .sink = nullptr,
                    .progress = nullptr,
                    .keep_going = &m_options.keep_going};
  CUDAENV_CHECK(fetch(relative, transfer));
  return body;
}

Result<std::vector<std::string>> CurlTransport::index() {
  CUDAENV_TRY(page, text({}, k_largest_index));
  return linked_names(page);
}

Result<void> CurlTransport::stream(std::string_view relative, std::uint64_t size, const Sink& sink,
                                   const Progress& progress) {
  Transfer transfer{.shown = m_location.shown(relative),
                    .size = size,
                    .is_exact = true,
                    .text = nullptr,
                    .sink = &sink,
                    .progress = &progress,
                    .keep_going = &m_options.keep_going};
  return fetch(relative, transfer);
}

}  // namespace

std::unique_ptr<Transport> open_curl_transport(const Location& location, TransportOptions options) {
  return std::make_unique<CurlTransport>(location, std::move(options));
}

}  // namespace cudaenv::redist
