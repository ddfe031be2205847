// SPDX-License-Identifier: Apache-2.0
//
// What the commands of every day cost, from start to end, against a dynamic C++ program that does nothing (empty.cpp).
//
//   program_start CUDAENV EMPTY TARGET [ROUNDS [LIMIT]]
//
// Exit status 1 if a command takes more than LIMIT times as long. `exec` includes the program that it becomes, so it is
// set against that program's own start.

#include <cstdlib>

#include "rounds.hpp"

namespace {

using namespace bench;

int compare(char** argv, int rounds, double limit) {
  const Scratch scratch;
  const std::vector<std::string> environment = make_project(scratch.path(), bytes_of(argv[3]));
  const std::string program = scratch.path() / "bin/cudaenv";
  const std::string empty = scratch.path() / "bin/empty";
  const std::string target = scratch.path() / "bin/target";
  write_file(program, bytes_of(argv[1]));
  write_file(empty, bytes_of(argv[2]));
  write_file(target, bytes_of(argv[3]));

  std::vector<Variant> variants = {{"empty", {empty}},
                                   {"target", {target}},
                                   {"version", {program, "version"}},
                                   {"versions", {program, "versions"}},
                                   {"which nvcc", {program, "which", "nvcc"}},
                                   {"env", {program, "env"}},
                                   {"exec target", {program, "exec", "--", target}}};
  measure(variants, environment, rounds);
  print(variants, variants[0]);
  int status = 0;
  const double base = quantile(variants[0].microseconds, 0.5);
  const double tool = quantile(variants[1].microseconds, 0.5);
  for (std::size_t i = 2; i < variants.size(); ++i) {
    const bool is_exec = variants[i].command[1] == "exec";
    const double ratio = (quantile(variants[i].microseconds, 0.5) - (is_exec ? tool : 0)) / base;
    if (ratio > limit) status = 1;
    std::printf("%s%s / empty: %.3f, limit %.2f\n", variants[i].name.c_str(), is_exec ? " less target" : "", ratio,
                limit);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: program_start CUDAENV EMPTY TARGET [ROUNDS [LIMIT]]\n", stderr);
    return 2;
  }
  try {
    return compare(argv, argc > 4 ? std::atoi(argv[4]) : 1000, argc > 5 ? std::atof(argv[5]) : 1.50);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "program_start: %s\n", error.what());
    return 2;
  }
}
