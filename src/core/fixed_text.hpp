// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/printable.hpp"

namespace cudaenv::core {

// Text in a buffer of fixed size, always ended by a NUL; what does not fit is cut off and remembered.
// For code that must not allocate (shims). The buffer past the NUL is never touched, so that a large one costs
// no page until it is filled. Freestanding.
template <std::size_t Capacity>
class FixedText {
 public:
  constexpr FixedText() { m_text[0] = '\0'; }
  constexpr explicit FixedText(std::string_view text) : FixedText() { append(text); }

  constexpr FixedText& append(std::string_view text) {
    for (const char c : text) append(c);
    return *this;
  }
  constexpr FixedText& append(char c) {
    if (m_size + 1 < Capacity) {
      m_text[m_size++] = c;
      m_text[m_size] = '\0';
    } else {
      m_is_cut = true;
    }
    return *this;
  }
  constexpr FixedText& append_number(std::uint64_t number) {
    char digits[20];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count != 0) append(digits[--count]);
    return *this;
  }
  // Control characters and what is not UTF-8 as \xNN, so that a hostile file cannot write to the terminal; about
  // `most` bytes of it.
  constexpr FixedText& append_escaped(std::string_view text, std::size_t most = 200) {
    constexpr char k_hex[] = "0123456789abcdef";
    for (std::size_t at = 0; at < text.size();) {
      if (at >= most) return append("...");
      const std::size_t size = base::printable_length({text.data() + at, text.size() - at});
      const auto byte = static_cast<unsigned char>(text[at]);
      if (size == 0)
        append("\\x").append(k_hex[byte >> 4]).append(k_hex[byte & 15]);
      else
        append(std::string_view(text.data() + at, size));
      at += size == 0 ? 1 : size;
    }
    return *this;
  }

  constexpr FixedText& assign(std::string_view text) {
    clear();
    return append(text);
  }
  constexpr void clear() {
    m_size = 0;
    m_is_cut = false;
    m_text[0] = '\0';
  }
  // The first `size` characters alone; whole again if it had been cut.
  constexpr void truncate(std::size_t size) {
    if (size > m_size) return;
    m_size = size;
    m_is_cut = false;
    m_text[size] = '\0';
  }

  constexpr std::string_view view() const { return {m_text, m_size}; }
  constexpr const char* c_str() const { return m_text; }
  constexpr std::size_t size() const { return m_size; }
  constexpr bool is_cut() const { return m_is_cut; }

 private:
  std::size_t m_size = 0;  // beside the start of the text, so that a short one touches one page
  bool m_is_cut = false;
  char m_text[Capacity];
};

using PathText = FixedText<4096>;

}  // namespace cudaenv::core
