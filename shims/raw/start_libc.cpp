// SPDX-License-Identifier: Apache-2.0
//
// Where the program begins on a machine for which start.cpp has no code: in a static libc, of which nothing else is
// used.

#include <sys/auxv.h>
#include <unistd.h>

#include "start.hpp"

int main(int argument_count, char** arguments) {
  using namespace cudaenv::raw;
  const auto* executable = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return run(
      {argument_count, arguments, environ, executable, ::getauxval(AT_SECURE) == 0 ? Trust::caller : Trust::nobody});
}
