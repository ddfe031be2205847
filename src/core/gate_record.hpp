// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the gate has decided on this machine, as it is kept for the shims, which never ask driver or GPU themselves;
// under the rules of selection.hpp. The program writes the record (store/gate_cache.hpp), program and shims read it.
// Why it is made as it is: docs/adr/0004-gate-record.md.
//
// One file for each set of circumstances (gate_circumstances.hpp), one line a fact or decision:
// clang-format off
//
//     cudaenv-gate 1
//     until 1790000000                  not to be believed later (seconds since 1970); where facts may change soon
//     seen STAMP FILE                   not to be believed if that file (a library of the driver) is another one now
//     allow TOOLKIT CONDITION DIRECTORY that toolkit may be activated
//     refuse TOOLKIT CONDITION REASON<TAB>DIRECTORY    that toolkit was refused, for the reason given
//     auto CONDITION DIRECTORY          what `auto` stands for
//     ...                               lines for the program alone
//
// clang-format on
// TOOLKIT is the fingerprint of what the directory holds, so that a link that moved, or an upgrade in place, is not
// taken for the toolkit it was. CONDITION is `-`, or a fingerprint of what else the decision rests on: settings, and an
// exemption for one version file. A refusal is for library shims, which cannot ask: for a command shim, whatever is not
// allowed is a question for the program, which can say why at length.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/gate_circumstances.hpp"
#include "core/gate_conditions.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_gate_record_head = "cudaenv-gate 1\n";
inline constexpr std::string_view k_program_name = "/bin/cudaenv";  // in a root: the program, or a link to it

// Beside the records once one of them has held a refusal; it stays when that has gone.
inline constexpr std::string_view k_refusals_name = "/.refusals";

// Whether some record may hold a refusal: so that a library shim need not read one at every start of a program where
// nothing was ever refused. That a place is safe, reading the record says. `path` is used for what is looked at.
template <class System>
bool has_refusals(System& system, PathText& path) {
  const auto is_there = [&]() {
    path.append(k_refusals_name);
    return !path.is_cut() && system.exists(path.c_str());
  };
  const char* runtime = system.variable("XDG_RUNTIME_DIR");
  path.assign(runtime ? runtime : "").append("/cudaenv");
  if (runtime && *runtime == '/' && is_there()) return true;
  path.assign("/tmp/cudaenv-").append_number(system.user());
  return is_there();
}

// System: see gate_conditions.hpp.
template <class System>
class GateRecord {
 public:
  GateRecord(System& system, const Roots& roots)
      : m_system(system), m_circumstances(system, roots), m_conditions(system, roots) {}

  // Reads the record for the present circumstances. False: there is none that can be trusted.
  bool load() {
    m_text = {};
    if (!find_directory() || !append_name()) return false;
    const std::size_t size = m_system.read_own(m_path.c_str(), m_buffer, sizeof m_buffer);
    m_text = {m_buffer, size};
    if (size == sizeof m_buffer || !m_text.starts_with(k_gate_record_head)) m_text = {};
    if (m_text.empty()) return false;
    m_text.remove_prefix(k_gate_record_head.size());
    if (is_believable()) return true;
    m_text = {};
    return false;
  }

  // Whether it says that the selected toolkit may be activated.
  bool allows(const Selection& selection) {
    const std::uint64_t toolkit = m_conditions.toolkit_fingerprint(selection.directory);
    return any_line("allow ", [&](std::string_view line) {
      const auto recorded = parse_fingerprint(take_until(line, ' '));
      const std::string_view condition = take_until(line, ' ');
      if (recorded != toolkit || line != selection.directory) return false;
      return condition == "-" || parse_fingerprint(condition) == m_conditions.settings_condition(selection) ||
             parse_fingerprint(condition) == m_conditions.exemption_condition(selection);
    });
  }

  // Why the selected toolkit was refused; empty: the record does not say that it was.
  std::string_view refusal(const Selection& selection) {
    const std::uint64_t toolkit = m_conditions.toolkit_fingerprint(selection.directory);
    std::string_view reason;
    any_line("refuse ", [&](std::string_view line) {
      const auto recorded = parse_fingerprint(take_until(line, ' '));
      const auto condition = parse_fingerprint(take_until(line, ' '));
      const std::string_view text = take_until(line, '\t');
      if (recorded != toolkit || line != selection.directory) return false;
      if (condition != m_conditions.exemption_condition(selection)) return false;
      reason = text;
      return true;
    });
    return reason;
  }

  // The directory of the toolkit that `auto` stands for; empty if the record does not say.
  std::string_view automatic() {
    std::string_view directory;
    any_line("auto ", [&](std::string_view line) {
      if (parse_fingerprint(take_until(line, ' ')) != m_conditions.installed_condition()) return false;
      directory = line;
      return true;
    });
    return directory;
  }

  std::string_view text() const { return m_text; }  // of what load() read, without its head

  // The file, once find_directory() and append_name(), or load(), have found its place.
  const PathText& path() const { return m_path; }
  bool find_directory() { return m_circumstances.find_directory(m_path); }
  bool append_name() { return m_circumstances.append_name(m_path); }

  // What the lines rest on.
  GateConditions<System>& conditions() { return m_conditions; }

 private:
  bool is_believable() {
    return !any_line("until ", [&](std::string_view line) { return is_over(line); }) &&
           !any_line("seen ", [&](std::string_view line) {
             const auto recorded = parse_fingerprint(take_until(line, ' '));
             return recorded != m_conditions.file_fingerprint(line);
           });
  }

  bool is_over(std::string_view seconds) {
    constexpr std::int64_t k_never = 1'000'000'000'000;
    std::int64_t until = 0;
    for (const char c : seconds)
      if (c >= '0' && c <= '9' && until < k_never) until = until * 10 + (c - '0');
    return m_system.now() >= until;
  }

  // Whether f answers true for the rest of a line that starts with `kind`.
  template <class F>
  bool any_line(std::string_view kind, F f) {
    for (std::string_view rest = m_text; !rest.empty();) {
      std::string_view line = take_until(rest, '\n');
      if (!line.starts_with(kind)) continue;
      line.remove_prefix(kind.size());
      if (f(line)) return true;
    }
    return false;
  }

  System& m_system;
  GateCircumstances<System> m_circumstances;
  GateConditions<System> m_conditions;
  PathText m_path;
  std::string_view m_text;
  char m_buffer[k_largest_gate_record];  // not cleared
};

}  // namespace cudaenv::core
