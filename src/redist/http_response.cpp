// SPDX-License-Identifier: Apache-2.0
#include "redist/http_response.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::string_view k_unit = "bytes ";

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

void ResponseHead::take_line(std::string_view line) {
  line = base::trimmed(line);
  if (line.starts_with("HTTP/")) {
    *this = {};
    const std::size_t blank = line.find(' ');
    if (blank != line.npos) status = static_cast<long>(parse_number(line.substr(blank + 1, 3)).value_or(0));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = base::trimmed(line.substr(colon + 1));
  if (is_same_name(name, "content-length")) length = parse_number(value);
  if (is_same_name(name, "transfer-encoding")) is_chunked = true;
  if (is_same_name(name, "content-range")) content_range = value;
  if (is_same_name(name, "content-type")) content_type = value;
  if (is_same_name(name, "etag")) etag = value;
  if (is_same_name(name, "last-modified")) last_modified = value;
  if (is_same_name(name, "retry-after")) retry_after = value;
}

bool ResponseHead::is_web_page() const { return content_type.starts_with("text/html"); }

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (!text.starts_with(k_unit)) return std::nullopt;
  text = base::trimmed(text.substr(k_unit.size()));
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == text.npos || slash == text.npos || slash < dash) return std::nullopt;
  const auto first = parse_number(text.substr(0, dash));
  const auto last = parse_number(text.substr(dash + 1, slash - dash - 1));
  const std::string_view total = text.substr(slash + 1);
  if (!first || !last || *last < *first) return std::nullopt;
  if (total == "*") return ContentRange{*first, *last, std::nullopt};
  const auto whole = parse_number(total);
  if (!whole || *last >= *whole) return std::nullopt;
  return ContentRange{*first, *last, whole};
}

BodyUse use_of_body(const ResponseHead& head, std::uint64_t offset, std::uint64_t size) {
  if (head.status == 200) return BodyUse::whole;
  if (head.status == 416 && offset > 0) return BodyUse::unfitting;
  if (head.status != 206) return BodyUse::none;
  const auto range = parse_content_range(head.content_range);
  const bool fits = range && range->first == offset && range->last == size - 1 && range->total.value_or(size) == size;
  if (fits) return offset > 0 ? BodyUse::append : BodyUse::whole;
  return BodyUse::unfitting;
}

std::string_view validator_of(const ResponseHead& head) {
  if (head.etag.empty()) return head.last_modified;
  return head.etag.starts_with('"') ? head.etag : std::string_view();  // a weak one begins with W/
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::time_t now) {
  constexpr std::uint64_t k_year = 366ull * 24 * 60 * 60;
  if (const auto seconds = parse_number(text)) return std::chrono::seconds(std::min(*seconds, k_year));
  std::tm date{};
  const std::string terminated(text);
  const char* end = ::strptime(terminated.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (!end || *end) return std::nullopt;
  return std::chrono::seconds(std::max<std::time_t>(0, ::timegm(&date) - now));
}

}  // namespace cudaenv::redist
