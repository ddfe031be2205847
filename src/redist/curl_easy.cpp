// SPDX-License-Identifier: Apache-2.0
#include "redist/curl_easy.hpp"

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "base/text.hpp"
#include "redist/no_proxy.hpp"

#ifndef CUDAENV_VERSION_TEXT
#define CUDAENV_VERSION_TEXT "dev"
#endif

namespace cudaenv::redist {
namespace {

using Advice = EasyHandle::Advice;

constexpr long k_buffer_size =
    256L << 10;  // bytes of a body at once; libcurl's own 16 KiB cost more calls than they save

constexpr Advice k_login_advice{"user name and password for that host are taken from ~/.netrc",
                                "${EDITOR:-vi} ~/.netrc"};
constexpr Advice k_certificate_advice{
    "name the file with your certificate authority's certificate in SSL_CERT_FILE or CURL_CA_BUNDLE",
    "export SSL_CERT_FILE=FILE"};
constexpr Advice k_clock_advice{"it is valid at another time than this machine's clock tells", "date"};
constexpr Advice k_proxy_advice{"these variables say which proxy is used", "env | grep -i proxy"};

Failure failure(ErrorKind kind, std::string message, const Advice& advice = {}, bool may_pass = false) {
  Error error{kind, std::move(message), std::string(advice.hint)};
  if (!advice.text.empty()) error.details.emplace_back(advice.text);
  return Failure{std::move(error), may_pass};
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

CURLcode start_libcurl() {
  static const CURLcode status = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  return status;
}

EasyHandle::EasyHandle(const TransportOptions& options) : m_setup(start_libcurl()) {
  if (m_setup == CURLE_OK) m_easy.reset(::curl_easy_init());
  if (m_setup == CURLE_OK && !m_easy) m_setup = CURLE_OUT_OF_MEMORY;
  set(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  set(CURLOPT_USERAGENT, "cudaenv/" CUDAENV_VERSION_TEXT);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.idle_timeout.count()));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  set(CURLOPT_QUICK_EXIT, 1L);  // a name that is being looked up is not waited for
#endif
  set(CURLOPT_BUFFERSIZE, k_buffer_size);
  set(CURLOPT_ERRORBUFFER, m_reason.data());
  configure_trust();
}

// As the curl program does; libcurl itself reads none of these variables. The system's store stays in force where
// it is a directory.
void EasyHandle::configure_trust() {
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

void EasyHandle::set_address(const std::string& url) {
  set(CURLOPT_URL, url.c_str());
  const std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)> parts(::curl_url(), &::curl_url_cleanup);
  const char* list = variable("no_proxy");
  if (!list) list = variable("NO_PROXY");
  char* host = nullptr;
  char* port = nullptr;
  bool is_direct = false;
  if (list && parts && ::curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
      ::curl_url_get(parts.get(), CURLUPART_HOST, &host, 0) == CURLUE_OK &&
      ::curl_url_get(parts.get(), CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
    is_direct = names_host_and_port(list, host, port);
  ::curl_free(host);
  ::curl_free(port);
  set(CURLOPT_NOPROXY, is_direct ? "*" : nullptr);
}

Result<void> EasyHandle::check() const {
  if (m_setup == CURLE_OK) return {};
  return fail(ErrorKind::internal, fmt::format("libcurl cannot be used: {}", ::curl_easy_strerror(m_setup)));
}

long EasyHandle::number(CURLINFO info) const {
  long value = 0;
  return ::curl_easy_getinfo(m_easy.get(), info, &value) == CURLE_OK ? value : 0;
}

std::string_view EasyHandle::text(CURLINFO info) const {
  char* value = nullptr;
  const CURLcode status = ::curl_easy_getinfo(m_easy.get(), info, &value);
  return status == CURLE_OK && value ? std::string_view(value) : std::string_view();
}

// Some of libcurl's own texts quote a proxy with its password.
std::string EasyHandle::reason(CURLcode code) const {
  const std::string_view text = m_reason.data();
  const bool is_safe = !text.empty() && text.find('@') == text.npos;
  return base::escaped(base::trimmed(is_safe ? text : std::string_view(::curl_easy_strerror(code))));
}

Failure EasyHandle::bad_status(const ResponseHead& head, std::string_view shown) const {
  const long status = head.status;
  if (status == 404 || status == 410)
    return failure(ErrorKind::not_found, fmt::format("there is no {} (status {})", shown, status));
  const std::string message = fmt::format("cannot download {}: the server answered with status {}", shown, status);
  if (status == 401 || status == 403) return failure(ErrorKind::network, message, k_login_advice);
  if (status == 407) return failure(ErrorKind::network, message, k_proxy_advice);
  Failure failed = failure(ErrorKind::network, message, {}, status >= 500 || status == 408 || status == 429);
  failed.asked_for = parse_retry_after(head.retry_after, std::time(nullptr));
  return failed;
}

// By OpenSSL's numbers (x509_vfy.h) 9 and 10 are a certificate's dates; the host is libcurl's own matter.
Advice EasyHandle::certificate_advice() const {
  const long verdict = number(CURLINFO_SSL_VERIFYRESULT);
  if (verdict == 9 || verdict == 10) return k_clock_advice;
  const bool is_of_another_host = std::string_view(m_reason.data()).find("subject name") != std::string_view::npos;
  return is_of_another_host ? Advice{} : k_certificate_advice;
}

Failure EasyHandle::bad_transfer(CURLcode code, std::string_view shown, Server server) const {
  const std::string message = fmt::format("cannot download {}: {}", shown, reason(code));
  const long proxy_status = number(CURLINFO_HTTP_CONNECTCODE);
  if (proxy_status >= 300)
    return failure(ErrorKind::network,
                   fmt::format("cannot download {}: the proxy answered with status {}", shown, proxy_status),
                   k_proxy_advice, proxy_status >= 500);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION: return failure(ErrorKind::network, message, certificate_advice());
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return failure(ErrorKind::network, message, k_certificate_advice);
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return failure(ErrorKind::network, message, k_proxy_advice);
    // A host that can't be reached won't be in a second either, unless it is only this machine that has been away.
    case CURLE_OPERATION_TIMEDOUT:
      return failure(ErrorKind::network, message, {}, server == Server::seen || number(CURLINFO_REQUEST_SIZE) > 0);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT: return failure(ErrorKind::network, message, {}, server == Server::seen);
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

}  // namespace cudaenv::redist
