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

  // ErrorKind::usage for a description that makes no sense; ErrorKind::interrupted.
  [[nodiscard]] Result<const core::MachineFacts*> facts(Asking asking);

  // Whether facts() cannot be known any better: they were learnt by this process, or it must not ask.
  bool is_fresh() const { return m_is_new || m_is_in_background; }

  // From now on facts() that would have to be asked for are unknown at once, and are asked for by another process, for
  // whoever asks next.
  void ask_in_background() { m_is_in_background = true; }
  bool is_asked_in_background() const { return m_is_asked_in_background; }

  // What an installed toolkit's nvcc says it can compile for; empty if it does not say.
  std::vector<std::uint16_t> architectures(const base::Path& toolkit);

  // The decisions kept for the shims; save_decisions() writes them.
  store::GateCache& decisions();
  void save_decisions();

 private:
  Result<core::MachineFacts> described() const;
  bool take_recorded();
  Result<void> start_asking();
  Result<void> ask();

  const base::Environment& m_environment;
  const store::Roots& m_roots;
  Facts& m_facts;
  base::Output& m_output;
  std::optional<store::GateCache> m_cache;
  std::optional<core::MachineFacts> m_known;
  bool m_is_new = false;  // m_known was learnt by this process
  bool m_is_in_background = false;
  bool m_is_asked_in_background = false;
};

}  // namespace cudaenv::commands
