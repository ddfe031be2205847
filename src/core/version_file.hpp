// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/spec.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_version_file_name = ".cuda-version";
inline constexpr std::size_t k_largest_version_file = std::size_t{64} << 10;  // bytes

enum class VersionTextStatus {
  spec,       // `spec` holds the answer
  empty,      // nothing but blanks and comments
  invalid,    // `word` is no spec
  utf16,      // saved as UTF-16
  too_large,  // more than k_largest_version_file bytes
};

// The content of a `.cuda-version`, of ROOT/version or of CUDAENV_VERSION. Views refer to the text given.
struct VersionText {
  VersionTextStatus status = VersionTextStatus::empty;
  Spec spec;
  std::string_view word;   // the first word, spec or not
  std::uint32_t line = 0;  // of that word, from 1
  std::string_view extra;  // a further word, which is ignored; empty if there is none
  std::uint32_t extra_line = 0;
};

namespace detail {

// Hands out the words of a text one by one, skipping blanks and `#` comments. CR, LF and CRLF end lines.
class WordReader {
 public:
  constexpr explicit WordReader(std::string_view text) : m_text(text) {}

  constexpr std::string_view next() {
    skip();
    const std::size_t start = m_at;
    while (m_at < m_text.size() && !is_blank(m_text[m_at]) && m_text[m_at] != '#') ++m_at;
    return {m_text.data() + start, m_at - start};  // not substr: it can throw
  }
  constexpr std::uint32_t line() const { return m_line; }

 private:
  static constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  constexpr void skip() {
    bool in_comment = false;
    for (; m_at < m_text.size(); ++m_at) {
      const char c = m_text[m_at];
      if (c == '\n' || (c == '\r' && !(m_at + 1 < m_text.size() && m_text[m_at + 1] == '\n'))) {
        ++m_line;
        in_comment = false;
      } else if (c == '#') {
        in_comment = true;
      } else if (!in_comment && !is_blank(c)) {
        return;
      }
    }
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::uint32_t m_line = 1;
};

}  // namespace detail

// Reads the first spec of a version file's bytes. A UTF-8 byte order mark is ignored. Freestanding.
constexpr VersionText parse_version_text(std::string_view bytes) {
  VersionText result;
  if (bytes.size() > k_largest_version_file) return {VersionTextStatus::too_large, {}, {}, 0, {}, 0};
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    return {VersionTextStatus::utf16, {}, {}, 0, {}, 0};
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);

  detail::WordReader reader(bytes);
  result.word = reader.next();
  if (result.word.empty()) return result;
  result.line = reader.line();
  const std::optional<Spec> spec = parse_spec(result.word);
  result.status = spec ? VersionTextStatus::spec : VersionTextStatus::invalid;
  if (spec) result.spec = *spec;
  result.extra = reader.next();
  if (!result.extra.empty()) result.extra_line = reader.line();
  return result;
}

}  // namespace cudaenv::core
