// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/gate_record.hpp"
#include "store/posix_system.hpp"
#include "store/roots.hpp"
#include "store/selected.hpp"

namespace cudaenv::store {

// What a decision of the gate rests on besides toolkit, driver and GPUs.
enum class Basis { facts_alone, settings, exemption };

// The record of core/gate_record.hpp as the program keeps it: the decisions that shims read, and what it has learnt of
// this machine, so that not every `exec` asks driver and GPUs. It is lost with the host's next boot, and whatever goes
// wrong with it only means that things are asked again.
class GateCache {
 public:
  explicit GateCache(const Roots& roots);

  // What is known under the present circumstances; nothing where no record can be trusted.
  std::optional<std::string> observation() const;  // as core::to_text(Observation) gave it
  bool allows(const Selected& selected) const;
  // What a toolkit's own nvcc can compile for; nothing if it was not asked. An empty list: it does not say.
  std::optional<std::vector<std::uint16_t>> architectures(const base::Path& toolkit) const;

  // Starts the record anew. `lifetime_seconds`: how long it is to be believed; 0: as long as nothing changes.
  void set_observation(std::string_view text, std::int64_t lifetime_seconds);
  void set_architectures(const base::Path& toolkit, const std::vector<std::uint16_t>& architectures);
  void allow(const Selected& selected, Basis basis);
  void set_automatic(const base::Path& toolkit);

  // Writes what was set since. Nothing to write: nothing is done.
  [[nodiscard]] Result<void> save();

 private:
  using Record = core::GateRecord<PosixSystem>;

  void take_out(std::string_view start, std::string_view end);

  PosixSystem m_system;
  core::Roots m_roots;
  std::unique_ptr<Record> m_record;
  std::vector<std::string> m_lines;
  bool m_is_changed = false;
};

}  // namespace cudaenv::store
