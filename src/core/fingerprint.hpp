// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cudaenv::core {

// A file's identity and age, from its inode.
struct FileStamp {
  bool exists = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_seconds = 0;
  std::int64_t modified_nanoseconds = 0;
  std::int64_t changed_seconds = 0;  // its mode too, or its content by somebody who put the time back
  std::int64_t changed_nanoseconds = 0;
};

// 64 bits that stand for a sequence of texts and numbers (FNV-1a): to notice a change, not to withstand an attack.
// Freestanding.
class Fingerprint {
 public:
  constexpr Fingerprint& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));  // so that two texts are not a third one cut elsewhere
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    return *this;
  }
  constexpr Fingerprint& add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
    return *this;
  }
  constexpr Fingerprint& add(const FileStamp& stamp) {
    if (!stamp.exists) return add(std::uint64_t{0});
    add(stamp.device).add(stamp.inode).add(stamp.size);
    add(static_cast<std::uint64_t>(stamp.modified_seconds));
    add(static_cast<std::uint64_t>(stamp.modified_nanoseconds));
    add(static_cast<std::uint64_t>(stamp.changed_seconds));
    return add(static_cast<std::uint64_t>(stamp.changed_nanoseconds));
  }

  constexpr std::uint64_t value() const { return m_value; }

 private:
  constexpr void add_byte(unsigned char byte) { m_value = (m_value ^ byte) * 0x100000001b3U; }

  std::uint64_t m_value = 0xcbf29ce484222325U;
};

inline constexpr std::size_t k_fingerprint_size = 16;  // in hexadecimal digits

// Text: core/fixed_text.hpp.
template <class Text>
constexpr void append_fingerprint(Text& text, std::uint64_t value) {
  constexpr char k_hex[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text.append(k_hex[value >> shift & 15]);
}

constexpr std::optional<std::uint64_t> parse_fingerprint(std::string_view text) {
  if (text.size() != k_fingerprint_size) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit);
  }
  return value;
}

}  // namespace cudaenv::core
