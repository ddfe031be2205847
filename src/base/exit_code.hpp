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
  cannot_start = 126,  // as for a shell: found, but not to be started; a shim that the gate refuses
  no_command = 127,    // as for a shell: not found; a shim whose tool or toolkit is not there
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
    case ErrorKind::integrity:
    case ErrorKind::untrusted: return ExitCode::integrity;
    case ErrorKind::filesystem:
    case ErrorKind::locked: return ExitCode::filesystem;
    case ErrorKind::execution: return ExitCode::cannot_start;
    case ErrorKind::no_command: return ExitCode::no_command;
    case ErrorKind::interrupted: return ExitCode::interrupted;
    case ErrorKind::internal: return ExitCode::other;
  }
  return ExitCode::other;
}

}  // namespace cudaenv
