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
  untrusted,   // a manifest that is not the published one
  filesystem,  // permission, no space
  locked,
  execution,   // a program that is there and cannot be started
  no_command,  // a program that is not there
  interrupted,
  internal,
};

}  // namespace cudaenv
