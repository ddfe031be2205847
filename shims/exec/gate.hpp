// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/selection_types.hpp"

namespace cudaenv::shim {

enum class GateVerdict { allowed, refused, unknown };

// What the gate says of the selected toolkit on this machine. A shim never probes driver or GPU: it reads the
// verdict that a command has cached. There is no cache yet, so nothing is known, and `unknown` activates.
inline GateVerdict gate_verdict(const core::Selection&) { return GateVerdict::unknown; }

}  // namespace cudaenv::shim
