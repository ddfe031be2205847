// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_lock.hpp"
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

  // Reads it anew.
  void load();

  // What is known under the present circumstances; nothing where no record can be believed.
  std::optional<std::string> observation() const;  // as core::to_text(Observation) gave it
  // What a toolkit's own nvcc can compile for; nothing if it was not asked. An empty list: it does not say.
  std::optional<std::vector<std::uint16_t>> architectures(const base::Path& toolkit) const;

  // `libraries`: files that the observation came from, and is worth nothing without. `lifetime_seconds`: how long it is
  // to be believed; 0: as long as nothing changes. All that was decided on other facts is dropped.
  void set_observation(std::string_view text, const std::vector<std::string>& libraries, std::int64_t lifetime_seconds);
  void set_architectures(const base::Path& toolkit, const std::vector<std::uint16_t>& architectures);
  void set_automatic(const base::Path& toolkit);
  void allow(const Selected& selected, Basis basis);
  void disallow(const Selected& selected);  // on whatever basis, but for exemptions of others
  // The same, where it is not even let pass with a warning. `reason`: one line without control characters.
  void refuse(const Selected& selected, const std::string& reason);

  // Writes what was set since, together with what other processes have written meanwhile; nothing if they have learnt
  // other facts than those that it was decided on.
  [[nodiscard]] Result<void> save();

  // Whether there is a place for it.
  bool can_be_kept() { return directory().has_value(); }

  // Lets one process at a time ask the driver, which may take long; the others wait, and then load() what it learnt.
  // Nothing where there is no place for a lock, or after waiting `deadline_seconds`.
  std::optional<base::FileLock> lock_asking(int deadline_seconds);
  // The same at once: nothing while somebody asks.
  std::optional<base::FileLock> try_lock_asking();

 private:
  using Record = core::GateRecord<PosixSystem>;

  struct Change {
    std::string taken_out;  // lines that start so, and
    std::string ending;     // end so, unless they
    std::string kept;       // start so
    std::string put_in;     // empty: nothing
  };

  void make_runtime_directory();
  [[nodiscard]] Result<base::Path> directory();
  void take_out_permissions(const Selected& selected);
  std::string refusal_start(const Selected& selected) const;
  std::vector<std::string> merged(std::vector<std::string> lines) const;

  PosixSystem m_system;
  core::Roots m_roots;
  std::unique_ptr<Record> m_record;
  std::vector<std::string> m_lines;  // as loaded
  std::vector<std::string> m_facts;  // newly learnt: `until`, `seen` and `fact` lines
  std::vector<Change> m_changes;
};

}  // namespace cudaenv::store
