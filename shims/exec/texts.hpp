// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "core/fixed_text.hpp"

namespace cudaenv::shim {

// The texts that must live until the tool is started, a few paths, one behind the other: a buffer for each would take a
// page of memory each, and to get a page costs as much as a system call.
class Texts {
 public:
  // The parts as one text, ended by a NUL behind it.
  std::string_view keep(std::initializer_list<std::string_view> parts) {
    const std::size_t start = m_all.size();
    for (const std::string_view part : parts) m_all.append(part);
    const std::size_t size = m_all.size() - start;
    m_all.append('\0');
    return {m_all.c_str() + start, size};
  }

 private:
  core::FixedText<32768> m_all;
};

}  // namespace cudaenv::shim
