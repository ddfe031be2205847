// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts that messages are made of, in program and shims; under the rules of selection.hpp.

#include <cstddef>
#include <string_view>

#include "core/root_search.hpp"
#include "core/selection_types.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

using MessageText = FixedText<8192>;  // a path of full length and some words fit

// What failed, why (one line, may be empty), and what to type (may be empty).
struct ProblemText {
  MessageText message;
  MessageText detail;
  MessageText hint;
};

// "set by /home/u/proj/.cuda-version:3"
template <std::size_t N>
void append_origin(FixedText<N>& text, const Origin& origin) {
  switch (origin.kind) {
    case OriginKind::none: text.append("nothing selects a toolkit here"); return;
    case OriginKind::argument: text.append("given on the command line"); return;
    case OriginKind::variable: text.append("set by the variable ").append(origin.path); return;
    case OriginKind::process: text.append("which this process has libraries of already"); return;
    case OriginKind::project_file:
    case OriginKind::global_file:
    case OriginKind::shared_file: break;
  }
  text.append("set by ").append_escaped(origin.path, 4096);
  if (origin.line != 0) text.append(':').append_number(origin.line);
}

// "12.8" for `cuda-12.8`, else what was typed.
template <std::size_t N>
void append_spec(FixedText<N>& text, const Spec& spec) {
  if (spec.kind != SpecKind::number) {
    text.append_escaped(spec.text);
    return;
  }
  text.append_number(spec.version.major);
  if (spec.given > 1) text.append('.').append_number(spec.version.minor);
  if (spec.given > 2) text.append('.').append_number(spec.version.patch);
}

// "CUDA 12.8.1" for a release, "toolkit mine" for another one.
template <std::size_t N>
void append_toolkit(FixedText<N>& text, std::string_view name) {
  text.append(parse_version(name) ? "CUDA " : "toolkit ").append(name);
}

// The problem as it is printed, in the form of every error.
template <std::size_t N>
void append_problem(FixedText<N>& text, const ProblemText& problem) {
  text.append("cudaenv: ").append(problem.message.view()).append('\n');
  if (problem.detail.size() != 0) text.append("  ").append(problem.detail.view()).append('\n');
  if (problem.hint.size() != 0) text.append("try: ").append(problem.hint.view()).append('\n');
}

// Fills in the text for roots that cannot be had.
inline void describe_root_problem(const RootOutcome& outcome, ProblemText& text) {
  switch (outcome.status) {
    case RootStatus::found: return;
    case RootStatus::bad_variable:
      text.message.append(outcome.variable).append(" is \"").append_escaped(outcome.value).append('"');
      text.detail.append("expected an absolute path without control characters, of at most ");
      text.detail.append_number(k_longest_root).append(" bytes");
      text.hint.append("unset ").append(outcome.variable);
      return;
    case RootStatus::no_home:
      text.message.append("there is no place for toolkits: neither CUDAENV_ROOT nor HOME names a directory");
      text.hint.append("export CUDAENV_ROOT=DIRECTORY");
      return;
  }
}

}  // namespace cudaenv::core
