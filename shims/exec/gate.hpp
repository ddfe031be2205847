// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/gate_record.hpp"
#include "core/selection_types.hpp"
#include "core/spec.hpp"
#include "raw/raw_system.hpp"

namespace cudaenv::shim {

// The gate as a shim knows it: by the decisions that the program has kept. A shim never asks driver or GPU itself.
class Gate {
 public:
  Gate(raw::RawSystem& system, const core::Roots& roots) : m_record(system, roots) {}

  // Whether the selected toolkit is known to pass. `auto` becomes the toolkit that it stands for on this machine.
  bool knows_to_pass(core::Selection& selection) {
    if (!m_record.load()) return false;
    if (selection.spec.kind == core::SpecKind::automatic) {
      selection.directory = m_record.automatic();
      if (selection.directory.empty()) return false;
      selection.name = selection.directory;
      while (selection.name.find('/') != std::string_view::npos) selection.name.remove_prefix(1);
    }
    return m_record.allows(selection);
  }

  // The name of the record that this is known from.
  std::string_view circumstances() const {
    std::string_view name = m_record.path().view();
    while (name.find('/') != std::string_view::npos) name.remove_prefix(1);
    return name;
  }

 private:
  core::GateRecord<raw::RawSystem> m_record;
};

}  // namespace cudaenv::shim
