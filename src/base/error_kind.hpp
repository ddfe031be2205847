// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudaenv {

// What went wrong, as far as a script needs to know: the kind alone sets the exit code (exit_code.hpp).
enum class ErrorKind {
  usage,          // wrong use of a command
  config,         // bad spec, setting or version file
  not_found,      // no such release, component, tool or file
  not_installed,  // selected but not installed
  incompatible,   // refused by the gate
  network,
  integrity,   // digest or size that differs, hostile or broken archive
  filesystem,  // permission, no space
  locked,
  execution,  // a program that could not be started
  interrupted,
  internal,
};

}  // namespace cudaenv
