// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the loader looks for a library by itself, read by the program and by library shims; freestanding.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cudaenv::core {

#if defined(__aarch64__)
inline constexpr std::string_view k_usual_library_places[] = {
    "/lib/aarch64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"};
#else
inline constexpr std::string_view k_usual_library_places[] = {
    "/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"};
#endif

// The content of /etc/ld.so.cache, in which ldconfig has written where libraries lie: a head, then entries, then
// strings, each named by its distance from the head. Before glibc 2.32 an older table stands before the head. What is
// damaged holds nothing. The bytes must outlive it.
class LoaderCache {
 public:
  static constexpr std::size_t k_largest = std::size_t{16} << 20;

  explicit LoaderCache(std::string_view bytes) : m_bytes(bytes) {
    constexpr std::size_t k_old_head = 16;
    constexpr std::size_t k_old_entry = 12;
    if (m_bytes.size() >= k_old_head && m_bytes.starts_with("ld.so-1.7.0")) {
      const std::size_t before = (k_old_head + number(k_old_head - 4) * k_old_entry + 7) / 8 * 8;
      m_bytes.remove_prefix(before < m_bytes.size() ? before : m_bytes.size());
    }
    if (m_bytes.size() < k_head || !m_bytes.starts_with("glibc-ld.so.cache1.1")) m_bytes = {};
  }

  // Calls f(std::string_view path) for the libraries of that name, in the loader's order, until it answers true.
  template <class F>
  bool find(std::string_view soname, F f) const {
    if (m_bytes.empty()) return false;
    const std::size_t count = number(k_count);
    for (std::size_t i = 0, at = k_head; i < count && at + k_entry <= m_bytes.size(); ++i, at += k_entry)
      if (number(at) == k_flags && text(number(at + 4)) == soname && f(text(number(at + 8)))) return true;
    return false;
  }

 private:
  static constexpr std::size_t k_head = 48;
  static constexpr std::size_t k_count = 20;
  static constexpr std::size_t k_entry = 24;  // flags, name, path, and what matters to no library of CUDA
#if defined(__aarch64__)
  static constexpr std::uint32_t k_flags = 0x0a03;  // for glibc on that machine
#else
  static constexpr std::uint32_t k_flags = 0x0303;
#endif

  std::uint32_t number(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(m_bytes[at + i]);
    return value;
  }

  std::string_view text(std::size_t offset) const {
    std::size_t end = offset;
    while (end < m_bytes.size() && m_bytes[end] != '\0') ++end;
    return end < m_bytes.size() ? std::string_view(m_bytes.data() + offset, end - offset) : std::string_view();
  }

  std::string_view m_bytes;
};

}  // namespace cudaenv::core
