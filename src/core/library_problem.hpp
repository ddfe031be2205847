// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words for a library that a selection does not have; under the rules of selection.hpp.

#include <string_view>

#include "core/problem_text.hpp"
#include "core/selection_types.hpp"
#include "core/spec.hpp"
#include "core/toolkit_list.hpp"

namespace cudaenv::core {

// "libcudart" for libcudart.so.12
constexpr std::string_view library_stem(std::string_view soname) {
  for (std::string_view rest = soname; !rest.empty(); rest.remove_prefix(1))
    if (rest.starts_with(".so")) return {soname.data(), soname.size() - rest.size()};
  return soname;
}

// What follows ".so." up to the next dot: the major release of CUDA that a libcudart is of.
constexpr std::string_view library_major(std::string_view soname) {
  std::size_t start = library_stem(soname).size() + 4;
  if (start > soname.size()) return {};
  std::size_t end = start;
  while (end < soname.size() && is_ascii_digit(soname[end])) ++end;
  return {soname.data() + start, end - start};
}

// Whether a file name is that of the stem's library in some version: libcudart.so.12, libcudart.so.12.8.90.
constexpr bool is_versioned_library(std::string_view name, std::string_view stem) {
  constexpr std::string_view k_between = ".so.";
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (!name.starts_with(k_between)) return false;
  name.remove_prefix(k_between.size());
  for (const char c : name)
    if (!is_ascii_digit(c) && c != '.') return false;
  return !name.empty();
}

// Fills in the text for a library that the selection (`system` or `selected`) does not have. `provided`: one of the
// same stem that the selected toolkit has; may be empty. `having` holds the installed toolkits that have it.
inline void describe_missing_library(const Selection& selection, std::string_view soname, std::string_view provided,
                                     const ToolkitList& having, ProblemText& text) {
  text.message.append("this program needs ").append_escaped(soname);
  if (selection.status == SelectionStatus::system) {
    text.message.append(", which the system does not have (");
    if (selection.origin.kind != OriginKind::none) text.message.append("system is ");
    append_origin(text.message, selection.origin);
    text.message.append(")");
  } else {
    text.message.append(", but ");
    append_toolkit(text.message, selection.name);
    text.message.append(" (");
    append_origin(text.message, selection.origin);
    text.message.append(provided.empty() ? ") has no such library" : ") provides ").append_escaped(provided);
  }
  if (having.is_empty()) {
    const std::string_view major = library_major(soname);
    // The numbers of other libraries are not those of CUDA's releases: libcufft.so.12 is CUDA 13's.
    if (library_stem(soname) == "libcudart" && !major.empty()) text.hint.append("cudaenv install ").append(major);
    return;
  }
  text.detail.append("installed toolkits that have it: ");
  having.append_to(text.detail);
  text.hint.append("cudaenv exec -v ").append(having.last()).append(" -- PROGRAM");
}

// Fills in the text for a toolkit that the gate has refused; `reason` is one line.
inline void describe_refused_toolkit(const Selection& selection, std::string_view reason, ProblemText& text) {
  append_toolkit(text.message, selection.name);
  text.message.append(" is refused on this machine (");
  append_origin(text.message, selection.origin);
  text.message.append(")");
  text.detail.append_escaped(reason, 4096);
  text.hint.append("cudaenv check ").append(selection.name);
}

}  // namespace cudaenv::core
