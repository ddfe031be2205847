// SPDX-License-Identifier: Apache-2.0
//
// What a command shim adds to starting a tool, against the least that a static C program can do (shim_floor.c), and
// against the same shim without the gate (gateless/gate.hpp).
//
//   shim_start SHIM GATELESS FLOOR TARGET PROGRAM [ROUNDS [LIMIT]]
//
// PROGRAM is the cudaenv that the shim asks at its first call; all others find its answer. Exit status 1 if the ratio
// of shim to floor is above LIMIT.

#include <array>
#include <cstdlib>

#include "rounds.hpp"

namespace {

using namespace bench;

std::string floor_for(std::string bytes, const std::string& path) {
  const std::size_t at = bytes.find("@SHIM_FLOOR_PATH@");
  if (at == std::string::npos || path.size() >= 1024) throw std::runtime_error("not a floor program");
  return bytes.replace(at, path.size() + 1, path.c_str(), path.size() + 1);
}

// Which tool the program ends up as: the target prints its own path when asked.
std::string where(const std::string& path, std::vector<std::string> environment) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> command = {path, "where"};
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execve(path.c_str(), arguments.data(), variables.data());
    ::_exit(126);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

int compare(char** argv, int rounds, double limit) {
  const Scratch scratch;
  const std::vector<std::string> environment = make_project(scratch.path(), bytes_of(argv[4]));
  const fs::path root = scratch.path() / "home/.cudaenv";
  const std::string tool = root / "versions/12.9.1/bin/nvcc";
  const std::string shim = root / "shims/nvcc";
  const std::string floor = scratch.path() / "floor/nvcc";
  // Under another tool's name: a shim finds its root by where it lies.
  const std::string other_tool = root / "versions/12.9.1/bin/ptxas";
  const std::string gateless = root / "shims/ptxas";
  write_file(other_tool, bytes_of(argv[4]));
  write_file(shim, bytes_of(argv[1]));
  write_file(gateless, bytes_of(argv[2]));
  write_file(floor, floor_for(bytes_of(argv[3]), tool));
  fs::create_directories(root / "bin");
  fs::create_symlink(fs::absolute(argv[5]), root / "bin/cudaenv");

  std::vector<Variant> variants = {
      {"target", {tool}}, {"floor", {floor}}, {"shim without gate", {gateless}}, {"shim", {shim}}};
  for (const Variant& variant : variants)
    if (const std::string started = where(variant.command[0], environment);
        started != (variant.command[0] == gateless ? other_tool : tool))
      throw std::runtime_error(variant.name + " starts " + started);
  if (fs::is_empty(scratch.path() / "run/cudaenv")) throw std::runtime_error("the gate has kept no decision");
  measure(variants, environment, rounds);
  print(variants, variants[1]);
  const double shim_time = quantile(variants[3].microseconds, 0.5);
  const double ratio = shim_time / quantile(variants[1].microseconds, 0.5);
  std::printf("shim / floor: %.3f, limit %.2f\n", ratio, limit);
  std::printf("shim / shim without gate: %.3f\n", shim_time / quantile(variants[2].microseconds, 0.5));
  return ratio <= limit ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("usage: shim_start SHIM GATELESS FLOOR TARGET PROGRAM [ROUNDS [LIMIT]]\n", stderr);
    return 2;
  }
  try {
    return compare(argv, argc > 6 ? std::atoi(argv[6]) : 2000, argc > 7 ? std::atof(argv[7]) : 1.10);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shim_start: %s\n", error.what());
    return 2;
  }
}
