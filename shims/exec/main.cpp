// SPDX-License-Identifier: Apache-2.0
//
// The command shim: ROOT/shims/nvcc, ROOT/shims/ptxas and all the others are hard links of this one program.
// It finds out which toolkit the working directory selects and becomes that toolkit's tool of the same name.
//
// It runs before every compiler call of a build, so it does as little as possible: no allocation, no
// configuration, no lock, nothing written, no child; a few system calls and execve. The tool is started by its
// real path, also as argv[0], since nvcc looks for its headers and helpers beside argv[0]. Apart from the three
// variables set here the tool finds everything as the shim found it. Whatever is wrong is told in one message;
// the shim never falls back to another toolkit.

#include <cerrno>
#include <cstddef>
#include <new>
#include <string_view>

#include <sys/stat.h>

#include "base/env_names.hpp"
#include "base/exit_code.hpp"
#include "core/root_search.hpp"
#include "core/selection.hpp"
#include "core/selection_problem.hpp"
#include "gate.hpp"
#include "own_file.hpp"
#include "raw/error_text.hpp"
#include "raw/start.hpp"
#include "store/tool_environment.hpp"
#include "tool_search.hpp"

namespace cudaenv::shim {
namespace {

using raw::SystemCalls;
using store::set_variables;
using store::Setting;

constexpr std::string_view k_own_name = "cudaenv-shim";
constexpr int k_stderr = 2;
constexpr unsigned k_most_shims = 20;  // one started by another, before it is taken for a loop

// All state. Static, not on the stack, as a tool may be started with a very small one; the large buffers in it
// are never cleared, so that their pages stay untouched. What is small comes first, for the same reason.
class Shim {
  core::ProblemText* m_problem = nullptr;

 public:
  explicit Shim(const raw::Start& started)
      : start(started),
        system(started.environment, started.trust),
        own(system, started.executable, texts),
        selector(system, roots),
        gate(system, roots) {}

  // What is wrong; made at the first call, so that a shim with nothing to tell does not touch it.
  core::ProblemText& problem() {
    if (!m_problem) m_problem = new (m_place) core::ProblemText;
    return *m_problem;
  }
  bool has_problem() const { return m_problem; }
  void forget_problem() { m_problem = nullptr; }

  raw::Start start;
  raw::RawSystem system;
  std::string_view program;  // what to start; ended by a NUL
  Texts texts;
  OwnFile own;
  core::Roots roots;
  core::Selector<raw::RawSystem> selector;
  Gate gate;

 private:
  alignas(core::ProblemText) char m_place[sizeof(core::ProblemText)];
};

std::string_view last_part(std::string_view path) {
  std::size_t start = path.size();
  while (start > 0 && path[start - 1] != '/') --start;
  path.remove_prefix(start);
  return path;
}

// Prints the problem in one call, so that messages of a parallel build do not mix.
[[gnu::cold, gnu::noinline]] int tell(Shim& shim, ExitCode code = ExitCode::no_command) {
  using Printed = core::FixedText<32768>;
  alignas(Printed) static char place[sizeof(Printed)];
  Printed& text = *new (place) Printed;
  core::append_problem(text, shim.problem());
  while (SystemCalls::write(k_stderr, text.c_str(), text.size()) == -EINTR) {
  }
  return static_cast<int>(code);
}

[[gnu::cold, gnu::noinline]] int tell(Shim& shim, std::string_view message) {
  shim.problem().message.append(message);
  return tell(shim);
}

// How many shims led here.
unsigned depth_of(const raw::RawSystem& system) {
  const char* text = system.variable(env_names::k_depth);
  unsigned depth = 0;
  for (std::size_t i = 0; text && i < 3 && text[i] >= '0' && text[i] <= '9'; ++i)
    depth = depth * 10 + static_cast<unsigned>(text[i] - '0');
  return depth;
}

[[gnu::cold, gnu::noinline]] int tell_loop(Shim& shim, std::string_view tool) {
  shim.problem().message.append_escaped(tool).append(" leads back to a shim again and again: ");
  shim.problem().message.append_number(k_most_shims).append(" of them were started, one by the other");
  shim.problem().detail.append("what it starts finds this shim on PATH; ").append(env_names::k_depth);
  shim.problem().detail.append(" counts them");
  shim.problem().hint.append("cudaenv which ").append_escaped(tool);
  return tell(shim);
}

[[gnu::cold, gnu::noinline]] int tell_missing_tool(Shim& shim, const core::Selection& selection,
                                                   std::string_view tool) {
  core::ToolkitList having;
  list_toolkits_with(shim.system, shim.selector, tool, having);
  core::describe_missing_tool(selection, tool, having, shim.problem());
  return tell(shim);
}

// Each finds shim.program; false if it is not there. In functions of their own, as are all that need a long buffer for
// a moment: so they use the same pages of the stack.
[[gnu::noinline]] bool find_tool_in(Shim& shim, std::string_view directory, std::string_view tool) {
  core::PathText path;
  if (!find_in_toolkit(shim.system, directory, tool, path)) return false;
  shim.program = shim.texts.keep({path.view()});
  return true;
}

[[gnu::noinline]] bool find_tool_on_path(Shim& shim, std::string_view tool) {
  core::PathText path;
  const auto is_own = [&](const struct stat& info) { return shim.own.is_same(info); };
  if (!store::find_on_path(shim.system, tool, shim.system.variable("PATH"), is_own, path)) return false;
  shim.program = shim.texts.keep({path.view()});
  return true;
}

// Becomes shim.program; returns only if that fails.
int start(Shim& shim, const Setting* settings, std::size_t count) {
  set_variables(shim.start.environment, settings, count, shim.start.environment);
  shim.start.arguments[0] = const_cast<char*>(shim.program.data());
  const int error = -SystemCalls::execute(shim.program.data(), shim.start.arguments, shim.start.environment);
  shim.problem().message.append("cannot start ").append_escaped(shim.program, 4096).append(": ");
  shim.problem().message.append(raw::error_text(error).view());
  if (error == ENOENT) shim.problem().detail.append("the interpreter or loader that it names is not there");
  if (error == ENOEXEC) shim.problem().detail.append("it is a program for another machine, or is damaged");
  // Found but not to be started, as a shell tells the two apart.
  return tell(shim, error == ENOENT ? ExitCode::no_command : ExitCode::cannot_start);
}

// Becomes `cudaenv exec`, which asks driver and GPU, keeps the answer, and starts the tool as this shim would have
// done, or says why not. Returns the reason if that program cannot be started.
int hand_over(Shim& shim, std::string_view tool, Setting depth) {
  const auto given = static_cast<std::size_t>(shim.start.argument_count);
  set_variables(shim.start.environment, &depth, 1, shim.start.environment);
  constexpr std::size_t k_longest_name = 512;  // no file is called so; argv[0] may be anything
  const std::string_view name(tool.data(), tool.size() < k_longest_name ? tool.size() : k_longest_name);
  const std::string_view name_option = shim.texts.keep({"--shim=", name});
  const std::string_view root_option = shim.texts.keep({"--shim-root=", shim.roots.own.view()});
  const char* const before[] = {"cudaenv", "exec", name_option.data(), root_option.data(), "--"};
  constexpr std::size_t k_before = sizeof before / sizeof before[0];
  // Not on the stack: there may be more arguments than it has room for.
  char** const arguments = static_cast<char**>(SystemCalls::memory((k_before + given) * sizeof(char*)));
  if (!arguments) return ENOMEM;
  for (std::size_t i = 0; i < k_before; ++i) arguments[i] = const_cast<char*>(before[i]);
  for (std::size_t i = 1; i <= given; ++i) arguments[k_before + i - 1] = shim.start.arguments[i];
  const std::string_view root = shim.own.root().empty() ? shim.roots.own.view() : shim.own.root();
  shim.program = shim.texts.keep({root, core::k_program_name});
  return -SystemCalls::execute(shim.program.data(), arguments, shim.start.environment);
}

// The gate could not be asked. A root without a program was made without a gate; where there should be one, somebody
// has to know. What `auto` stands for, nobody else can say.
bool passes_unasked(Shim& shim, const core::Selection& selection, int reason) {
  const bool is_open = selection.spec.kind == core::SpecKind::automatic;
  if (!is_open && shim.system.kind(shim.program.data()) == core::PathKind::absent) return true;
  shim.problem().message.append(is_open ? "cannot tell what auto stands for here" : "the gate could not be asked");
  shim.problem().message.append(": cannot start ").append_escaped(shim.program, 4096).append(" (");
  shim.problem().message.append(raw::error_text(reason).view()).append(")");
  shim.problem().hint.append("cudaenv rehash");
  return !is_open;
}

Setting setting(Shim& shim, std::string_view name, std::string_view value) {
  return {shim.texts.keep({name, "=", value}).data(), name.size()};
}

int run(Shim& shim, std::string_view tool) {
  const unsigned depth = depth_of(shim.system);
  if (depth >= k_most_shims) return tell_loop(shim, tool);
  core::FixedText<8> next_depth;
  next_depth.append_number(depth + 1);
  Setting settings[3] = {setting(shim, env_names::k_depth, next_depth.view()), {}, {}};

  const char* home = shim.system.variable("HOME");
  const core::RootOutcome outcome = core::find_roots(shim.system, shim.own.root(), home ? home : "", shim.roots);
  if (outcome.status != core::RootStatus::found) {
    core::describe_root_problem(outcome, shim.problem());
    return tell(shim);
  }

  core::Selection selection = shim.selector.select();
  switch (selection.status) {
    case core::SelectionStatus::system:
      if (!find_tool_on_path(shim, tool)) return tell_missing_tool(shim, selection, tool);
      return start(shim, settings, 1);
    case core::SelectionStatus::selected: break;
    default:
      core::describe_problem(selection, shim.selector, raw::error_text(selection.system_error).view(), shim.problem());
      return tell(shim);
  }
  bool must_find = selection.spec.kind == core::SpecKind::automatic;  // what that stands for, the gate says
  if (!must_find && !find_tool_in(shim, selection.directory, tool)) return tell_missing_tool(shim, selection, tool);
  if (shim.system.is_trusted() && !shim.gate.knows_to_pass(selection)) {
    const int reason = hand_over(shim, tool, settings[0]);
    if (!passes_unasked(shim, selection, reason)) return tell(shim, ExitCode::cannot_start);
    if (shim.has_problem()) tell(shim);
    shim.forget_problem();
    must_find = true;
  }
  if (must_find && !find_tool_in(shim, selection.directory, tool)) return tell_missing_tool(shim, selection, tool);
  settings[1] = setting(shim, env_names::k_cuda_home, selection.directory);
  settings[2] = setting(shim, env_names::k_cuda_path, selection.directory);
  return start(shim, settings, 3);
}

int run(Shim& shim) {
  const std::string_view tool = last_part(shim.start.argument_count > 0 ? shim.start.arguments[0] : "");
  if (tool.empty()) return tell(shim, "a shim was started without a name, so it cannot tell which tool is meant");
  if (tool == k_own_name) {
    shim.problem().message.append("this program is not started by its own name");
    shim.problem().detail.append("under the name of a CUDA tool, such as nvcc, it runs the selected toolkit's");
    shim.problem().hint.append("cudaenv help");
    return tell(shim, ExitCode::usage);
  }
  return run(shim, tool);
}

}  // namespace
}  // namespace cudaenv::shim

int cudaenv::raw::run(const Start& start) {
  alignas(shim::Shim) static char place[sizeof(shim::Shim)];
  return shim::run(*new (place) shim::Shim(start));
}
