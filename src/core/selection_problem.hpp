// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words for a selection that cannot be obeyed; the same from the program and from a shim, so under the
// rules of selection.hpp.

#include <cstddef>
#include <string_view>

#include "core/problem_text.hpp"
#include "core/selection.hpp"
#include "core/toolkit_list.hpp"

namespace cudaenv::core {

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
  selector.installed().for_each([&](std::string_view, std::string_view name) { installed.add(name); });
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
