// SPDX-License-Identifier: Apache-2.0
// The least that a static C program can do in a shim's place: exec a path that it knows. shim_start.cpp puts
// the path into its copy of this program.
#include <unistd.h>

extern char** environ;

volatile const char shim_floor_path[1024] = "@SHIM_FLOOR_PATH@";

int main(int argc, char** argv) {
  (void)argc;
  argv[0] = (char*)shim_floor_path;
  execve((const char*)shim_floor_path, argv, environ);
  return 127;
}
