// SPDX-License-Identifier: Apache-2.0
//
//     cudaenv-hook PROGRAM env --hook --shell SHELL
//
// Prints what PROGRAM printed the last time that everything was as it is now: the selection, the toolkit, the settings,
// the variables that the text changes; and the gate's record still lets the toolkit pass. If anything is not, or there
// is something to tell, it becomes PROGRAM with the arguments given. So a switch that a shell has made before costs
// what a small program without libc does, and there is one place that makes the text.

#include <cerrno>
#include <cstddef>
#include <new>
#include <string_view>

#include "base/exit_code.hpp"
#include "core/root_search.hpp"
#include "core/selection.hpp"
#include "core/switch_key.hpp"
#include "exec/gate.hpp"
#include "raw/error_text.hpp"
#include "raw/start.hpp"

namespace cudaenv::hook {
namespace {

using raw::SystemCalls;

constexpr int k_arguments = 6;

// Whoever selects with a mistake in it is to be told.
class WatchingSystem : public raw::RawSystem {
 public:
  using RawSystem::RawSystem;
  void warn(const core::SelectionWarning&) { m_has_warned = true; }
  bool has_warned() const { return m_has_warned; }

 private:
  bool m_has_warned = false;
};

// Static, and the large buffers in it are not cleared, so that their pages stay untouched.
class Hook {
 public:
  explicit Hook(const raw::Start& start)
      : m_system(start.environment, start.trust),
        m_selector(m_system, m_roots),
        m_gate(m_system, m_roots),
        m_key(m_system, m_roots) {}

  // What was printed for this shell, which may be empty; without data: nothing that can be printed again.
  std::string_view find(const char* program, std::string_view shell) {
    const char* home = m_system.variable("HOME");
    if (core::find_roots(m_system, {}, home ? home : "", m_roots).status != core::RootStatus::found) return {};
    core::Selection selection = m_selector.select();
    if (m_system.has_warned()) return {};
    std::string_view circumstances;
    if (selection.status == core::SelectionStatus::selected) {
      if (!m_gate.knows_to_pass(selection)) return {};
      circumstances = m_gate.circumstances();
    } else if (selection.status != core::SelectionStatus::system) {
      return {};
    }
    core::PathText place;
    if (!m_key.make(shell, program, circumstances, selection) || !m_key.find_place(place)) return {};
    const std::string_view kept(m_kept, m_system.read_own(place.c_str(), m_kept, sizeof m_kept));
    const std::string_view key = m_key.text();
    const std::size_t around = key.size() + core::k_kept_switch_end.size();
    if (kept.size() < around || !kept.starts_with(key) || !kept.ends_with(core::k_kept_switch_end)) return {};
    return {kept.data() + key.size(), kept.size() - around};
  }

 private:
  WatchingSystem m_system;
  core::Roots m_roots;
  core::Selector<WatchingSystem> m_selector;
  shim::Gate m_gate;
  core::SwitchKey<raw::RawSystem> m_key;
  char m_kept[core::k_largest_kept_switch];
};

bool print(std::string_view text) {
  constexpr int k_stdout = 1;
  while (!text.empty()) {
    const long written = SystemCalls::write(k_stdout, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (written != -EINTR)
      return false;
  }
  return true;
}

int become_program(const raw::Start& start) {
  constexpr int k_stderr = 2;
  const int error = -SystemCalls::execute(start.arguments[1], start.arguments + 1, start.environment);
  core::FixedText<8192> text("cudaenv: cannot start ");
  text.append_escaped(start.arguments[1], 4096).append(": ").append(raw::error_text(error).view()).append('\n');
  SystemCalls::write(k_stderr, text.c_str(), text.size());
  return static_cast<int>(error == ENOENT ? ExitCode::no_command : ExitCode::cannot_start);
}

}  // namespace
}  // namespace cudaenv::hook

int cudaenv::raw::run(const Start& start) {
  if (start.argument_count < 2) return static_cast<int>(ExitCode::usage);
  if (start.argument_count != hook::k_arguments || std::string_view(start.arguments[3]) != "--hook")
    return hook::become_program(start);
  alignas(hook::Hook) static char place[sizeof(hook::Hook)];
  const std::string_view text =
      (new (place) hook::Hook(start))->find(start.arguments[1], start.arguments[hook::k_arguments - 1]);
  if (!text.data()) return hook::become_program(start);
  return static_cast<int>(hook::print(text) ? ExitCode::done : ExitCode::other);
}
