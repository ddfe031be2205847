// SPDX-License-Identifier: Apache-2.0
#include "redist/location.hpp"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::string_view k_scheme_end = "://";
constexpr std::string_view k_digits = "0123456789";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// The text without anything that may be a password or a token. A wrong address is shown too, so this relies on no
// structure: everything up to the last "@" goes, and the query.
std::string without_credentials(std::string_view text) {
  const std::size_t scheme = text.find(k_scheme_end);
  if (scheme != text.npos) text = text.substr(0, text.find_first_of("?#"));
  const std::size_t at = text.rfind('@');
  if (at == text.npos || scheme == text.npos || at < scheme) return base::escaped(text);
  return base::escaped(fmt::format("{}{}", text.substr(0, scheme + k_scheme_end.size()), text.substr(at + 1)));
}

// The scheme in lower case if the text looks like an address at all, else empty.
std::string scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || !is_letter(text[0])) return {};
  const std::string scheme = lower_case(text.substr(0, colon));
  for (const char c : scheme)
    if (!is_letter(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return {};
  const bool is_known = scheme == "http" || scheme == "https" || scheme == "file";
  return is_known || text.substr(colon).starts_with(k_scheme_end) ? scheme : std::string();
}

struct WebAddress {
  std::string scheme;
  std::string credentials;  // with the "@", or empty
  std::string host;         // lower case; an IPv6 address without its brackets
  std::string port;         // empty for the scheme's own
  std::string rest;         // from the first slash, query and fragment included

  bool is_ipv6() const { return host.find(':') != host.npos; }
  std::string origin() const { return (is_ipv6() ? "[" + host + "]" : host) + (port.empty() ? "" : ":" + port); }
};

bool is_host_name(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool is_ipv6_address(const std::string& host) {
  in6_addr ignored;
  return ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

bool is_port(std::string_view port) {
  if (port.empty() || port.size() > 5 || port.find_first_not_of(k_digits) != port.npos) return false;
  const int number = std::stoi(std::string(port));
  return number > 0 && number <= 65535;
}

// Nothing if host or port cannot be one.
std::optional<WebAddress> parse_web_address(std::string_view text) {
  WebAddress address;
  address.scheme = scheme_of(text);
  if (!text.substr(std::min(address.scheme.size(), text.size())).starts_with(k_scheme_end)) return std::nullopt;
  text.remove_prefix(address.scheme.size() + k_scheme_end.size());
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, end);
  if (authority.find_first_of(" \"\\<>^`{|}") != authority.npos) return std::nullopt;
  address.rest = text.substr(end);
  if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
    address.credentials = authority.substr(0, at + 1);
    authority.remove_prefix(at + 1);
  }
  const bool has_brackets = authority.starts_with('[');
  const std::size_t host_end = has_brackets ? authority.find(']') : std::min(authority.find(':'), authority.size());
  if (host_end == authority.npos) return std::nullopt;
  address.host = lower_case(has_brackets ? authority.substr(1, host_end - 1) : authority.substr(0, host_end));
  if (has_brackets ? !is_ipv6_address(address.host) : !is_host_name(address.host)) return std::nullopt;
  authority.remove_prefix(host_end + (has_brackets ? 1 : 0));
  if (authority.empty()) return address;
  if (authority[0] != ':' || !is_port(authority.substr(1))) return std::nullopt;
  address.port = authority.substr(1);
  if (address.port == (address.scheme == "https" ? "443" : "80")) address.port.clear();
  return address;
}

// Only what no resolver can turn into another machine: "127.1" or "localhost.example.com" are not meant.
bool is_loopback(const WebAddress& address) {
  if (address.host == "localhost") return true;
  in_addr four;
  if (::inet_pton(AF_INET, address.host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six;
  return ::inet_pton(AF_INET6, address.host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_allowed(const WebAddress& address, PlainHttp plain_http) {
  return address.scheme == "https" || plain_http == PlainHttp::everywhere || is_loopback(address);
}

constexpr const char* k_plain_http_advice = "use an https:// address, or allow plain http from everywhere";
constexpr const char* k_plain_http_hint = "cudaenv config set network.allow_http true";

tl::unexpected<Error> unusable(std::string_view text, std::string_view reason, std::string_view expected = {}) {
  Error error{ErrorKind::config, fmt::format("cannot download from {}: {}", without_credentials(text), reason)};
  if (!expected.empty()) error.details.push_back(fmt::format("expected {}", expected));
  return fail(std::move(error));
}

// Bytes that an address cannot carry, as %XX; what is encoded already stays.
std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

Result<Location> parse_web_location(std::string_view text, PlainHttp plain_http) {
  const auto address = parse_web_address(text);
  if (!address) return unusable(text, "that is no valid web address");
  if (address->rest.find_first_of("?#") != std::string::npos)
    return unusable(text, "a base address has neither \"?\" nor \"#\"");
  if (!is_allowed(*address, plain_http)) {
    auto refused = unusable(text, "plain http is only used on this machine itself");
    refused.value().details.emplace_back(k_plain_http_advice);
    refused.value().hint = k_plain_http_hint;
    return refused;
  }
  Location location;
  location.plain_http = plain_http;
  location.url = fmt::format("{}://{}{}{}", address->scheme, address->credentials, address->origin(),
                             percent_encoded(address->rest));
  if (!location.url.ends_with('/')) location.url += '/';
  return location;
}

// file:///path, file://localhost/path and file:/path.
Result<Location> parse_file_location(std::string_view text) {
  std::string_view path = text.substr(std::string_view("file:").size());
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (const std::string host = lower_case(path.substr(0, end)); !host.empty() && host != "localhost")
      return unusable(text, "a file:// address cannot name another machine", "file:///absolute/path");
    path.remove_prefix(end);
  }
  const auto decoded = percent_decoded(path);
  if (!decoded) return unusable(text, "\"%\" is not followed by two hex digits");
  if (std::any_of(decoded->begin(), decoded->end(), is_control)) return unusable(text, "it holds control bytes");
  if (!decoded->starts_with('/')) return unusable(text, "the path is not absolute", "file:///absolute/path");
  Location location;
  location.directory = base::Path(*decoded).lexically_normal();
  return location;
}

}  // namespace

std::string Location::resource(std::string_view relative) const {
  if (!is_directory()) return url + std::string(relative);
  return relative.empty() ? directory.native() : (directory / relative).native();
}

Location Location::product(std::string_view folder) const {
  constexpr std::string_view k_of_toolkit = "/cuda/redist/";
  const std::string below = fmt::format("{}/redist/", folder);
  Location product = *this;
  const std::string own = is_directory() ? (directory / "").native() : url;
  const std::size_t end = own.size() - (own.ends_with(k_of_toolkit) ? k_of_toolkit.size() - 1 : 0);
  const std::string elsewhere = own.substr(0, end) + below;
  if (is_directory())
    product.directory = base::Path(elsewhere).lexically_normal();
  else
    product.url = elsewhere;
  return product;
}

std::string Location::shown(std::string_view relative) const {
  const std::string text = resource(relative);
  if (is_directory()) return base::escaped(text);
  const auto address = parse_web_address(text);
  if (!address) return without_credentials(text);
  return base::escaped(fmt::format("{}://{}{}", address->scheme, address->origin(), address->rest));
}

Result<Location> parse_location(std::string_view text, PlainHttp plain_http, const base::Path& working_directory) {
  if (text.empty()) return fail(ErrorKind::config, "cannot download from an empty address");
  if (std::any_of(text.begin(), text.end(), is_control)) return unusable(text, "it holds control bytes");
  const std::string scheme = scheme_of(text);
  if (scheme == "https" || scheme == "http") return parse_web_location(text, plain_http);
  if (scheme == "file") return parse_file_location(text);
  if (!scheme.empty())
    return unusable(text, fmt::format("{}:// is not supported", scheme), "an https:// address or a directory");
  Location location;
  location.directory = (working_directory / base::Path(text)).lexically_normal();
  if (!location.directory.is_absolute()) return unusable(text, "the directory it is relative to is not known");
  return location;
}

Result<void> check_redirect(std::string_view from, std::string_view to, PlainHttp plain_http) {
  const auto target = parse_web_address(to);
  if (!target || (target->scheme != "https" && target->scheme != "http"))
    return fail(ErrorKind::network, "the server redirects to something that is no web address");
  const std::string shown = fmt::format("{}://{}", target->scheme, base::escaped(target->origin()));
  if (scheme_of(from) == "https" && target->scheme != "https")
    return fail(ErrorKind::network, fmt::format("the server redirects from https to {}, which is refused", shown));
  if (!is_allowed(*target, plain_http))
    return fail(ErrorKind::network,
                fmt::format("the server redirects to {}: plain http is only used on this machine itself", shown),
                k_plain_http_hint, {k_plain_http_advice});
  return {};
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace cudaenv::redist
