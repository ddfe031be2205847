// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/output.hpp"
#include "base/result.hpp"
#include "commands/facts.hpp"
#include "core/machine_facts.hpp"
#include "store/gate_cache.hpp"
#include "store/roots.hpp"

namespace cudaenv::commands {

enum class Asking {
  where_needed,  // what was learnt under the same circumstances will do
  anew,
};

// Driver and GPUs that the gate decides by: those that CUDAENV_OVERRIDE_DRIVER and CUDAENV_OVERRIDE_GPUS describe, else
// this machine's, as they were learnt before or are learnt now. Nothing is read before it is asked for.
class Machine {
 public:
  Machine(const base::Environment& environment, const store::Roots& roots, Facts& facts, base::Output& output)
      : m_environment(environment), m_roots(roots), m_facts(facts), m_output(output) {}

  // ErrorKind::usage for a description that makes no sense.
  [[nodiscard]] Result<const core::MachineFacts*> facts(Asking asking);

  // What an installed toolkit's nvcc says it can compile for; empty if it does not say.
  std::vector<std::uint16_t> architectures(const base::Path& toolkit);

  // The decisions kept for the shims; save_decisions() writes them.
  store::GateCache& decisions();
  void save_decisions();

 private:
  Result<core::MachineFacts> described() const;

  const base::Environment& m_environment;
  const store::Roots& m_roots;
  Facts& m_facts;
  base::Output& m_output;
  std::optional<store::GateCache> m_cache;
  std::optional<core::MachineFacts> m_known;
  bool m_is_new = false;  // m_known was learnt by this process
};

}  // namespace cudaenv::commands
