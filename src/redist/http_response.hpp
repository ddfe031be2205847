// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::redist {

// What a server says before a body, as far as it decides what becomes of the body.
struct ResponseHead {
  long status = 0;
  std::optional<std::uint64_t> length;  // of the body that follows, bytes
  bool is_chunked = false;
  std::string content_range;
  std::string content_type;
  std::string etag;
  std::string last_modified;
  std::string retry_after;

  // Takes over one line of a response; a status line begins a new one.
  void take_line(std::string_view line);
  bool is_web_page() const;
};

// "bytes 100-199/200", both ends included; the total may be unknown ("*").
struct ContentRange {
  std::uint64_t first;
  std::uint64_t last;
  std::optional<std::uint64_t> total;
};
std::optional<ContentRange> parse_content_range(std::string_view text);

enum class BodyUse {
  append,     // goes on where what is here ends
  whole,      // is everything from the beginning
  unfitting,  // a part other than the one that was asked for: the whole must be asked for instead
  none,       // belongs to an error or a redirect
};

// What the body is good for when all from `offset` on was asked for (0: no range was) of something of `size` bytes.
BodyUse use_of_body(const ResponseHead& head, std::uint64_t offset, std::uint64_t size);

// What tells whether the thing on the server is still the one that was begun. For If-Range: a strong ETag; the date
// where there is no ETag at all; else nothing (RFC 9110, 13.1.5).
std::string_view validator_of(const ResponseHead& head);

// How long a server asks to be left alone: seconds, or a date against `now`. Nothing if it says neither.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::time_t now);

}  // namespace cudaenv::redist
