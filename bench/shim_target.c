// SPDX-License-Identifier: Apache-2.0
// The tool that shim_start.cpp starts: does nothing, or prints argv[0] if there is any argument.
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 0;
  return write(STDOUT_FILENO, argv[0], strlen(argv[0])) < 0;
}
