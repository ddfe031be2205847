// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words for a selection that cannot be obeyed; the same from the program and from a shim, so under the
// rules of selection.hpp.

#include <cstddef>
#include <string_view>

#include "core/root_search.hpp"
#include "core/selection.hpp"
#include "core/toolkit_list.hpp"

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

namespace detail {

template <class System>
void describe_not_installed(const Selection& selection, Selector<System>& selector, ProblemText& text) {
  const bool is_name = selection.spec.kind == SpecKind::name;
  text.message.append(is_name ? "no toolkit is called " : "CUDA ");
  append_spec(text.message, selection.spec);
  text.message.append(is_name ? " (" : " is not installed (");
  append_origin(text.message, selection.origin);
  text.message.append(")");
  ToolkitList installed;
  selector.for_each_toolkit([&](std::string_view, std::string_view name) { installed.add(name); });
  text.detail.append("installed: ");
  installed.append_to(text.detail);
  if (installed.is_empty()) text.detail.append("nothing");
  text.hint.append(is_name ? "cudaenv adopt DIRECTORY --name " : "cudaenv install ");
  append_spec(text.hint, selection.spec);
}

}  // namespace detail

// Fills in the text for a selection whose status is neither `system` nor `selected`. `reason` is the words
// for selection.system_error.
template <class System>
void describe_problem(const Selection& selection, Selector<System>& selector, std::string_view reason,
                      ProblemText& text) {
  const auto subject = [&]() {
    if (selection.origin.kind == OriginKind::argument)
      text.message.append("the argument");
    else
      text.message.append_escaped(selection.origin.path, 4096);
    if (selection.origin.line != 0) text.message.append(':').append_number(selection.origin.line);
  };
  const auto edit_file = [&]() {
    const OriginKind kind = selection.origin.kind;
    if (kind == OriginKind::project_file) text.hint.append("cudaenv local VERSION");
    if (kind == OriginKind::global_file) text.hint.append("cudaenv global VERSION");
    if (kind == OriginKind::variable) text.hint.append("unset ").append(selection.origin.path);
  };
  switch (selection.status) {
    case SelectionStatus::system:
    case SelectionStatus::selected: return;
    case SelectionStatus::not_installed: detail::describe_not_installed(selection, selector, text); return;
    case SelectionStatus::invalid:
      subject();
      text.message.append(": \"").append_escaped(selection.word, 80).append("\" is not a version");
      text.detail.append("expected ").append(k_spec_expected);
      edit_file();
      return;
    case SelectionStatus::utf16:
      subject();
      text.message.append(" is saved as UTF-16");
      text.detail.append("save it as UTF-8, or write it anew");
      edit_file();
      return;
    case SelectionStatus::too_large:
      subject();
      text.message.append(" is larger than ").append_number(k_largest_version_file / 1024).append(" KiB");
      text.detail.append("expected ").append(k_spec_expected);
      edit_file();
      return;
    case SelectionStatus::unreadable:
      text.message.append("cannot read ").append_escaped(selection.origin.path, 4096).append(": ").append(reason);
      return;
  }
}

// Fills in the text for a tool that the selection (`system` or `selected`) does not have. `having` holds the
// installed toolkits that do.
inline void describe_missing_tool(const Selection& selection, std::string_view tool, const ToolkitList& having,
                                  ProblemText& text) {
  const bool is_system = selection.status == SelectionStatus::system;
  if (having.is_empty()) {
    text.message.append("unknown tool ").append_escaped(tool).append(": no installed toolkit has it");
    text.message.append(is_system ? ", nor PATH (" : " (");
  } else {
    text.message.append_escaped(tool).append(is_system ? " is not on PATH" : " is not in ");
    if (!is_system) append_toolkit(text.message, selection.name);
    text.message.append(" (");
  }
  if (is_system && selection.origin.kind != OriginKind::none) text.message.append("system is ");
  append_origin(text.message, selection.origin);
  text.message.append(")");
  if (having.is_empty()) return;
  text.detail.append("installed toolkits that have it: ");
  having.append_to(text.detail);
  text.hint.append("cudaenv exec -v ").append(having.last()).append(" -- ").append_escaped(tool);
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

// The problem as it is printed, in the form of every error.
template <std::size_t N>
void append_problem(FixedText<N>& text, const ProblemText& problem) {
  text.append("cudaenv: ").append(problem.message.view()).append('\n');
  if (problem.detail.size() != 0) text.append("  ").append(problem.detail.view()).append('\n');
  if (problem.hint.size() != 0) text.append("try: ").append(problem.hint.view()).append('\n');
}

// The line for a warning; commands print it, shims do not.
template <std::size_t N>
void describe_warning(const SelectionWarning& warning, FixedText<N>& text) {
  text.append_escaped(warning.origin.path, 4096);
  if (warning.origin.line != 0) text.append(':').append_number(warning.origin.line);
  switch (warning.kind) {
    case WarningKind::empty_file: text.append(" is empty and is skipped"); return;
    case WarningKind::not_a_file: text.append(" is not a file and is skipped"); return;
    case WarningKind::extra_word:
      text.append(": only the first version counts, \"").append_escaped(warning.word, 80).append("\" is ignored");
      return;
  }
}

}  // namespace cudaenv::core
