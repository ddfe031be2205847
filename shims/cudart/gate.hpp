// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "core/gate_record.hpp"
#include "core/selection_types.hpp"
#include "raw/raw_system.hpp"

namespace cudaenv::cudart {

// The gate as a library knows it. A command shim that does not find its toolkit allowed in the record becomes `cudaenv
// exec`, which asks; a library cannot become another program. So what is not allowed there may merely not have been
// asked, and only what is written down as refused is refused here (ADR 4). What `auto` stands for is taken from the
// record, and without one is the newest toolkit, as where there is no driver.
class Gate {
 public:
  Gate(raw::RawSystem& system, const core::Roots& roots) : m_record(system, roots) {}

  bool load() { return m_record.load(); }

  // Why the toolkit was refused; empty if it was not.
  std::string_view refusal(const core::Selection& selection) { return m_record.refusal(selection); }

  // Makes `auto` the toolkit that it stands for, if the record says so; its directory is put into `buffer`.
  template <std::size_t Size>
  void resolve_automatic(core::Selection& selection, char (&buffer)[Size]) {
    const std::string_view directory = m_record.automatic();
    if (directory.empty() || directory.size() > Size) return;
    std::size_t name = 0;
    for (std::size_t i = 0; i < directory.size(); ++i) {
      buffer[i] = directory[i];
      if (directory[i] == '/') name = i + 1;
    }
    selection.directory = {buffer, directory.size()};
    selection.name = {buffer + name, directory.size() - name};
  }

 private:
  core::GateRecord<raw::RawSystem> m_record;
};

}  // namespace cudaenv::cudart
