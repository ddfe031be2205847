// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "core/fixed_text.hpp"
#include "core/gate_record.hpp"
#include "core/selection_types.hpp"
#include "core/spec.hpp"
#include "shim_system.hpp"

namespace cudaenv::shim {

// The gate as a shim knows it: by the decisions that the program has kept. A shim never asks driver or GPU itself.
class Gate {
 public:
  Gate(ShimSystem& system, const core::Roots& roots) : m_record(system, roots) {}

  // Whether the selected toolkit is known to pass. `auto` becomes the toolkit that it stands for on this machine.
  bool knows_to_pass(core::Selection& selection) {
    if (!m_record.load()) return false;
    if (selection.spec.kind == core::SpecKind::automatic) {
      m_automatic.assign(m_record.automatic());
      if (m_automatic.size() == 0 || m_automatic.is_cut()) return false;
      selection.directory = m_automatic.view();
      selection.name = selection.directory;
      while (selection.name.find('/') != std::string_view::npos) selection.name.remove_prefix(1);
    }
    return m_record.allows(selection);
  }

 private:
  core::GateRecord<ShimSystem> m_record;
  core::PathText m_automatic;
};

}  // namespace cudaenv::shim
