// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/fixed_text.hpp"
#include "core/spec.hpp"

namespace cudaenv::core {

// Names of toolkits for a message: each once, other names before releases, releases ascending. Beyond
// k_most the first ones are dropped, so that the newest release always stays. Freestanding.
class ToolkitList {
 public:
  static constexpr std::size_t k_most = 32;

  constexpr void add(std::string_view name) {
    std::size_t at = 0;
    while (at < m_count && is_before(m_names[at].view(), name)) ++at;
    if (at < m_count && m_names[at].view() == name) return;
    if (m_count == k_most) {
      m_is_complete = false;
      if (at == 0) return;
      for (std::size_t i = 1; i < at; ++i) m_names[i - 1].assign(m_names[i].view());
      m_names[at - 1].assign(name);
      return;
    }
    for (std::size_t i = m_count++; i > at; --i) m_names[i].assign(m_names[i - 1].view());
    m_names[at].assign(name);
  }

  constexpr bool is_empty() const { return m_count == 0; }
  constexpr std::string_view last() const { return m_names[m_count - 1].view(); }

  // "mine, 11.8.0, 12.4.1"
  template <std::size_t N>
  constexpr void append_to(FixedText<N>& text) const {
    if (!m_is_complete) text.append("..., ");
    for (std::size_t i = 0; i < m_count; ++i) text.append(i == 0 ? "" : ", ").append(m_names[i].view());
  }

 private:
  static constexpr bool is_before(std::string_view a, std::string_view b) {
    const auto release_a = parse_version(a);
    const auto release_b = parse_version(b);
    if (release_a && release_b) return *release_a < *release_b;
    return release_a || release_b ? !release_a : a < b;
  }

  FixedText<k_longest_toolkit_name + 1> m_names[k_most];
  std::size_t m_count = 0;
  bool m_is_complete = true;
};

}  // namespace cudaenv::core
