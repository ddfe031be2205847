// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error_kind.hpp"

namespace cudaenv {

// The exit codes that scripts rely on.
enum class ExitCode : int {
  done = 0,
  other = 1,
  usage = 2,
  not_found = 3,
  not_installed = 4,
  refused = 5,
  network = 6,
  integrity = 7,
  filesystem = 8,
  shim_refused = 126,
  shim_not_found = 127,
  interrupted = 130,
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::config: return ExitCode::usage;
    case ErrorKind::not_found: return ExitCode::not_found;
    case ErrorKind::not_installed: return ExitCode::not_installed;
    case ErrorKind::incompatible: return ExitCode::refused;
    case ErrorKind::network: return ExitCode::network;
    case ErrorKind::integrity: return ExitCode::integrity;
    case ErrorKind::filesystem:
    case ErrorKind::locked: return ExitCode::filesystem;
    case ErrorKind::execution: return ExitCode::shim_not_found;
    case ErrorKind::interrupted: return ExitCode::interrupted;
    case ErrorKind::internal: return ExitCode::other;
  }
  return ExitCode::other;
}

}  // namespace cudaenv
