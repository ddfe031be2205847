// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/fixed_text.hpp"
#include "core/spec.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_receipt_name = "receipt.json";

enum class OriginKind { none, argument, variable, project_file, global_file, shared_file, process };

// Where a selection was written; `process`: nowhere, a library of it is in the process already. `path` is the file;
// `line` counts from 1.
struct Origin {
  OriginKind kind = OriginKind::none;
  std::string_view path = {};
  std::uint32_t line = 0;
};

enum class SelectionStatus {
  system,         // no toolkit of ours: the first on PATH, as if cudaenv were not there
  selected,       // `directory` and `name` hold the toolkit
  not_installed,  // `spec` is well-formed, nothing installed fits it
  invalid,        // `word` is no spec
  utf16,          // the file is UTF-16
  too_large,      // the file is larger than k_largest_version_file
  unreadable,     // the file exists and cannot be read: `system_error`
};

// Views refer to buffers of the Selector or to the environment.
struct Selection {
  SelectionStatus status = SelectionStatus::system;
  Origin origin;
  Spec spec;
  std::string_view word;
  std::string_view directory;
  std::string_view name;
  int system_error = 0;
};

enum class WarningKind { empty_file, extra_word, not_a_file };

struct SelectionWarning {
  WarningKind kind;
  Origin origin;
  std::string_view word;  // extra_word: the word that is ignored
};

enum class ReadStatus { ok, absent, not_a_file, failed };

struct ReadOutcome {
  ReadStatus status;
  std::size_t size;  // bytes put into the buffer, which never exceed its capacity
  int system_error;
};

enum class PathKind { absent, directory, link, other };

// Two roots, own before shared; an empty path is no root.
struct Roots {
  PathText own;
  PathText shared;
};

// The policy that selection asks for whatever the system knows, with NUL-terminated paths and without ever blocking on
// a FIFO. store/posix_system.hpp is one, shims/raw/raw_system.hpp another.
//   const char* variable(const char* name)              null if unset
//   ReadOutcome read(const char* path, char* buffer, std::size_t capacity)
//   bool is_current_directory(const char* path)         by identity
//   bool is_same_directory(const char*, const char*)    by identity; false if one is not there
//   bool current_directory(char* buffer, std::size_t capacity)
//   PathKind kind(const char* path)                     does not follow a link
//   bool exists(const char* path)                       follows links
//   void for_each_entry(const char* directory, f)       f(std::string_view name)
//   void warn(const SelectionWarning&)

}  // namespace cudaenv::core
