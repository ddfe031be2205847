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
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <alloca.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env_names.hpp"
#include "base/exit_code.hpp"
#include "core/root_search.hpp"
#include "core/selection.hpp"
#include "core/selection_problem.hpp"
#include "gate.hpp"
#include "own_file.hpp"
#include "shim_system.hpp"
#include "store/tool_environment.hpp"
#include "tool_search.hpp"

namespace cudaenv::shim {
namespace {

using store::environment_capacity;
using store::set_variables;
using store::Setting;

constexpr std::string_view k_own_name = "cudaenv-shim";
constexpr unsigned k_most_shims = 20;  // one started by another, before it is taken for a loop

// All state. Static, not on the stack, as a tool may be started with a very small one; the large buffers in it
// are never cleared, so that their pages stay untouched.
struct Shim {
  Shim() : selector(system, roots), gate(system, roots) {}

  ShimSystem system;
  OwnFile own;
  core::Roots roots;
  core::Selector<ShimSystem> selector;
  Gate gate;
  core::PathText program;
  core::FixedText<4096 + 16> cuda_home;
  core::FixedText<4096 + 16> cuda_path;
  core::FixedText<64> depth;
  core::FixedText<512> shim_option;
  core::FixedText<4096 + 16> root_option;
  core::ProblemText problem;
  core::FixedText<32768> printed;
};

std::string_view last_part(std::string_view path) {
  std::size_t start = path.size();
  while (start > 0 && path[start - 1] != '/') --start;
  path.remove_prefix(start);
  return path;
}

// Prints shim.problem in one call, so that messages of a parallel build do not mix.
int tell(Shim& shim, ExitCode code = ExitCode::no_command) {
  core::append_problem(shim.printed, shim.problem);
  while (::write(STDERR_FILENO, shim.printed.c_str(), shim.printed.size()) < 0 && errno == EINTR) {
  }
  return static_cast<int>(code);
}

int tell(Shim& shim, std::string_view message) {
  shim.problem.message.append(message);
  return tell(shim);
}

// How many shims led here.
unsigned depth_of(const ShimSystem& system) {
  const char* text = system.variable(env_names::k_depth);
  unsigned depth = 0;
  for (std::size_t i = 0; text && i < 3 && text[i] >= '0' && text[i] <= '9'; ++i)
    depth = depth * 10 + static_cast<unsigned>(text[i] - '0');
  return depth;
}

int tell_loop(Shim& shim, std::string_view tool) {
  shim.problem.message.append_escaped(tool).append(" leads back to a shim again and again: ");
  shim.problem.message.append_number(k_most_shims).append(" of them were started, one by the other");
  shim.problem.detail.append("what it starts finds this shim on PATH; ").append(env_names::k_depth);
  shim.problem.detail.append(" counts them");
  shim.problem.hint.append("cudaenv which ").append_escaped(tool);
  return tell(shim);
}

int tell_missing_tool(Shim& shim, const core::Selection& selection, std::string_view tool) {
  core::ToolkitList having;
  list_toolkits_with(shim.selector, tool, having);
  core::describe_missing_tool(selection, tool, having, shim.problem);
  return tell(shim);
}

// Becomes shim.program; returns only if that fails.
int start(Shim& shim, char** argv, const Setting* settings, std::size_t count) {
  char** environment = static_cast<char**>(alloca(environment_capacity(environ, count) * sizeof(char*)));
  set_variables(environ, settings, count, environment);
  argv[0] = const_cast<char*>(shim.program.c_str());
  ::execve(shim.program.c_str(), argv, environment);
  const int error = errno;
  shim.problem.message.append("cannot start ").append_escaped(shim.program.view(), 4096).append(": ");
  shim.problem.message.append(std::strerror(error));
  if (error == ENOENT) shim.problem.detail.append("the interpreter or loader that it names is not there");
  if (error == ENOEXEC) shim.problem.detail.append("it is a program for another machine, or is damaged");
  // Found but not to be started, as a shell tells the two apart.
  return tell(shim, error == ENOENT ? ExitCode::no_command : ExitCode::cannot_start);
}

// Becomes `cudaenv exec`, which asks driver and GPU, keeps the answer, and starts the tool as this shim would have
// done, or says why not. Returns the reason if that program cannot be started.
int hand_over(Shim& shim, int argument_count, char** argv, std::string_view tool, Setting depth) {
  char** environment = static_cast<char**>(alloca(environment_capacity(environ, 1) * sizeof(char*)));
  set_variables(environ, &depth, 1, environment);
  shim.shim_option.append("--shim=").append(tool);
  shim.root_option.append("--shim-root=").append(shim.roots.own.view());
  const char* before[] = {"cudaenv", "exec", shim.shim_option.c_str(), shim.root_option.c_str(), "--"};
  constexpr std::size_t k_before = sizeof before / sizeof before[0];
  char** arguments = static_cast<char**>(alloca((k_before + static_cast<std::size_t>(argument_count)) * sizeof(char*)));
  for (std::size_t i = 0; i < k_before; ++i) arguments[i] = const_cast<char*>(before[i]);
  for (int i = 1; i <= argument_count; ++i) arguments[k_before + static_cast<std::size_t>(i) - 1] = argv[i];
  shim.program.assign(shim.own.root().empty() ? shim.roots.own.view() : shim.own.root()).append(core::k_program_name);
  ::execve(shim.program.c_str(), arguments, environment);
  return errno;
}

// The gate could not be asked. A root without a program was made without a gate; where there should be one, somebody
// has to know. What `auto` stands for, nobody else can say.
bool passes_unasked(Shim& shim, const core::Selection& selection, int reason) {
  const bool is_open = selection.spec.kind == core::SpecKind::automatic;
  if (!is_open && shim.system.kind(shim.program.c_str()) == core::PathKind::absent) return true;
  shim.problem.message.append(is_open ? "cannot tell what auto stands for here" : "the gate could not be asked");
  shim.problem.message.append(": cannot start ").append_escaped(shim.program.view(), 4096).append(" (");
  shim.problem.message.append(std::strerror(reason)).append(")");
  shim.problem.hint.append("cudaenv rehash");
  return !is_open;
}

template <std::size_t N>
Setting setting(core::FixedText<N>& text, std::string_view name, std::string_view value) {
  text.append(name).append('=').append(value);
  return {text.c_str(), name.size()};
}

int run(Shim& shim, int argument_count, char** argv, std::string_view tool) {
  const unsigned depth = depth_of(shim.system);
  if (depth >= k_most_shims) return tell_loop(shim, tool);
  shim.depth.append(env_names::k_depth).append('=').append_number(depth + 1);
  Setting settings[3] = {{shim.depth.c_str(), std::strlen(env_names::k_depth)}, {}, {}};

  const char* home = shim.system.variable("HOME");
  const core::RootOutcome outcome = core::find_roots(shim.system, shim.own.root(), home ? home : "", shim.roots);
  if (outcome.status != core::RootStatus::found) {
    core::describe_root_problem(outcome, shim.problem);
    return tell(shim);
  }

  core::Selection selection = shim.selector.select();
  const auto is_own = [&](const struct stat& info) { return shim.own.is_same(info); };
  switch (selection.status) {
    case core::SelectionStatus::system:
      if (!store::find_on_path(tool, shim.system.variable("PATH"), is_own, shim.program))
        return tell_missing_tool(shim, selection, tool);
      return start(shim, argv, settings, 1);
    case core::SelectionStatus::selected: break;
    default:
      core::describe_problem(selection, shim.selector, std::strerror(selection.system_error), shim.problem);
      return tell(shim);
  }
  bool must_find = selection.spec.kind == core::SpecKind::automatic;  // what that stands for, the gate says
  if (!must_find && !find_in_toolkit(selection.directory, tool, shim.program))
    return tell_missing_tool(shim, selection, tool);
  if (shim.system.is_trusted() && !shim.gate.knows_to_pass(selection)) {
    const int reason = hand_over(shim, argument_count, argv, tool, settings[0]);
    if (!passes_unasked(shim, selection, reason)) return tell(shim, ExitCode::cannot_start);
    if (shim.problem.message.size() != 0) tell(shim);
    shim.problem = core::ProblemText();
    must_find = true;
  }
  if (must_find && !find_in_toolkit(selection.directory, tool, shim.program))
    return tell_missing_tool(shim, selection, tool);
  settings[1] = setting(shim.cuda_home, env_names::k_cuda_home, selection.directory);
  settings[2] = setting(shim.cuda_path, env_names::k_cuda_path, selection.directory);
  return start(shim, argv, settings, 3);
}

}  // namespace

int shim_main(int argument_count, char** argv) {
  static Shim shim;
  const std::string_view tool = last_part(argument_count > 0 ? argv[0] : "");
  if (tool.empty()) return tell(shim, "a shim was started without a name, so it cannot tell which tool is meant");
  if (tool == k_own_name) {
    shim.problem.message.append("this program is not started by its own name");
    shim.problem.detail.append("under the name of a CUDA tool, such as nvcc, it runs the selected toolkit's");
    shim.problem.hint.append("cudaenv help");
    return tell(shim, ExitCode::usage);
  }
  return run(shim, argument_count, argv, tool);
}

}  // namespace cudaenv::shim

int main(int argument_count, char** argv) { return cudaenv::shim::shim_main(argument_count, argv); }
