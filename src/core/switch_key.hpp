// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the text that `env --hook` prints for a selection is made from, and where that text is kept for the next time;
// under the rules of selection.hpp. The program keeps it (store/switch_memory.hpp), cudaenv-hook finds it again. Only
// what was let pass without a word is kept, and whether it still passes is asked of the gate's record each time.
// A file is the key, the text, and a mark that it is whole.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/env_names.hpp"
#include "core/fingerprint.hpp"
#include "core/gate_record.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_kept_switch_start = "/switch-";  // of a file's name, beside the gate's records
inline constexpr std::string_view k_kept_switch_end("\0whole\n", 7);
inline constexpr std::size_t k_longest_switch_key = 65536;
inline constexpr std::size_t k_largest_kept_switch = 2 * k_longest_switch_key;

// System: see gate_conditions.hpp, with
//   void for_each_variable(f)      f(const char* entry) with "NAME=value"
template <class System>
class SwitchKey {
 public:
  SwitchKey(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // For a selection that is a toolkit or none. `program`: the file that prints the text, which another build of it may
  // do in another way. `circumstances`: for a toolkit, the name of the gate's record, since with other GPUs there may
  // be something to tell. False: there is too much of it.
  bool make(std::string_view shell, const char* program, std::string_view circumstances, const Selection& selection) {
    m_text.assign("cudaenv-switch 1 " CUDAENV_VERSION_TEXT "\n").append(shell);
    add(m_roots.own.view());
    add(m_roots.shared.view());
    add(selection.directory);
    add(selection.name);
    add(circumstances);
    GateConditions<System> conditions(m_system, m_roots);
    Fingerprint rest;
    rest.add(selection.directory.empty() ? 0 : conditions.toolkit_fingerprint(selection.directory));
    rest.add(conditions.settings_condition(selection)).add(m_system.stamp(program));
    rest.add(is_there(selection.directory, "/include/cccl")).add(is_there(m_roots.own.view(), "/shims/lib"));
    rest.add(settings_variables());
    add_number(rest.value());
    for (const char* name : env_names::k_plan_values) add_variable(name);
    for (const char* name : env_names::k_plan_lists) add_variable(name);
    add_variable(env_names::k_active);
    add_variable(env_names::k_outside);
    add("\n");
    return !m_text.is_cut();
  }

  // A kept file starts with it.
  std::string_view text() const { return m_text.view(); }

  // Puts the file's place into `path`; false if there is no safe directory for it.
  bool find_place(PathText& path) const {
    if (!GateCircumstances<System>(m_system, m_roots).find_directory(path)) return false;
    path.append(k_kept_switch_start);
    append_fingerprint(path, Fingerprint().add(m_text.view()).value());
    return !path.is_cut();
  }

 private:
  // NULs end what stands before them: there are none in a variable or a path.
  void add(std::string_view part) { m_text.append('\0').append(part); }
  void add_variable(const char* name) {
    const char* value = m_system.variable(name);
    add(name);
    m_text.append(value ? "=" : "").append(value ? value : "");
  }
  void add_number(std::uint64_t number) {
    m_text.append('\0');
    append_fingerprint(m_text, number);
  }

  std::uint64_t is_there(std::string_view directory, std::string_view name) {
    if (directory.empty()) return 0;
    PathText path(directory);
    return m_system.exists(path.append(name).c_str());
  }

  // In no order, since a shell may change it: settings may be given as variables.
  std::uint64_t settings_variables() {
    std::uint64_t sum = 0;
    m_system.for_each_variable([&](std::string_view entry) {
      if (entry.starts_with("CUDAENV_")) sum += Fingerprint().add(entry).value();
    });
    return sum;
  }

  System& m_system;
  const Roots& m_roots;
  FixedText<k_longest_switch_key> m_text;
};

}  // namespace cudaenv::core
