// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include <memory>
#include <string>

#include "../unit/core/memory_gate.hpp"
#include "core/gate_record.hpp"

namespace {

using namespace cudaenv;

constexpr const char* k_place = "/run/user/1000/cudaenv";
constexpr const char* k_toolkit = "/r/12.4";

// The machine whose record the bytes are: the fingerprints in the corpus are of its directories.
test::MemoryGate machine() {
  test::MemoryGate system;
  system.variables["XDG_RUNTIME_DIR"] = "/run/user/1000";
  system.own_directories = {"/run/user/1000"};
  system.private_directories = {k_place};
  system.stamps[k_toolkit] = {true, 1, 2, 0, 0, 0};
  return system;
}

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() || whole.find(part) != std::string_view::npos;
}

}  // namespace

// Whatever lies in the place of a record, only what has the head, fits and has not expired is believed; a toolkit is
// allowed by a line that names it and its fingerprint, and by no other; views stay within the file.
void fuzz(std::string_view bytes) {
  test::MemoryGate system = machine();
  core::Roots roots;
  roots.own.assign("/r");
  const auto record = std::make_unique<core::GateRecord<test::MemoryGate>>(system, roots);
  require(record->find_directory() && record->append_name());
  system.files[std::string(record->path().view())] = std::string(bytes);

  const bool is_loaded = record->load();
  require(!is_loaded || (bytes.size() < core::k_largest_gate_record && bytes.starts_with(core::k_gate_record_head)));
  require(is_within(record->text(), bytes));
  const std::string_view automatic = record->automatic();
  require(is_within(automatic, bytes) && automatic.find('\n') == automatic.npos);

  core::Selection selection;
  selection.status = core::SelectionStatus::selected;
  selection.word = "12.4";
  selection.directory = k_toolkit;
  selection.origin = {core::OriginKind::project_file, "/p/.cuda-version", 1};
  const bool is_allowed = record->allows(selection);
  require(record->allows(selection) == is_allowed);
  require(is_loaded || (!is_allowed && automatic.empty()));
  if (is_allowed) require(is_within("\nallow ", bytes) && is_within(k_toolkit, bytes));
}
