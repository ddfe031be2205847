// SPDX-License-Identifier: Apache-2.0
//
// What a command shim adds to starting a tool, against the least that a static C program can do (shim_floor.c), against
// the same shim without the gate (gateless/gate.hpp) and begun by a static libc, and against the shims of other
// managers.
//
//   shim_start SHIM GATELESS WITH_LIBC FLOOR TARGET PROGRAM [ROUNDS [LIMIT]]
//
// PROGRAM is the cudaenv that the shim asks at its first call; all others find its answer. Exit status 1 if the ratio
// of shim to floor is above LIMIT.

#include <array>
#include <cstdlib>

#include "other_shims.hpp"

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

// Whether the program ends up as the tool; throws if not, as a shim that only fails is fast.
void check(const Variant& variant, const std::vector<std::string>& environment, const std::string& tool) {
  const std::string started = where(variant.command[0], environment);
  if (started.empty() || (!tool.empty() && started != tool))
    throw std::runtime_error(variant.name + " starts " + started);
}

int compare(char** argv, int rounds, double limit) {
  const Scratch scratch;
  const std::string target = bytes_of(argv[5]);
  const fs::path program = fs::absolute(argv[6]);
  std::array<std::string, 4> images;
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = bytes_of(argv[i + 1]);
  std::vector<std::string> environment = make_project(scratch.path(), target);
  const fs::path root = scratch.path() / "home/.cudaenv";
  const fs::path toolkit = root / "versions/12.9.1/bin";
  // Under different names, as a shim finds its root by where it lies.
  std::vector<Variant> variants = {{"target", {toolkit / "nvcc"}},
                                   {"floor", {scratch.path() / "floor/nvcc"}},
                                   {"shim", {root / "shims/nvcc"}},
                                   {"shim without gate", {root / "shims/ptxas"}},
                                   {"shim with libc", {root / "shims/nvlink"}}};
  write_file(toolkit / "ptxas", target);
  write_file(toolkit / "nvlink", target);
  write_file(variants[1].command[0], floor_for(images[3], variants[0].command[0]));
  for (std::size_t i = 0; i < 3; ++i) write_file(variants[i + 2].command[0], images[i]);
  fs::create_directories(root / "bin");
  fs::create_symlink(program, root / "bin/cudaenv");
  for (const auto& other : {rustup(scratch.path(), target, environment), pyenv(scratch.path(), target, environment)})
    if (other) variants.push_back(*other);
  for (std::size_t i = 5; i < variants.size(); ++i) variants[i].every = 20;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const fs::path tool = toolkit / fs::path(variants[i].command[0]).filename();
    check(variants[i], environment, i < 5 ? tool.string() : "");
  }
  if (fs::is_empty(scratch.path() / "run/cudaenv")) throw std::runtime_error("the gate has kept no decision");

  measure(variants, environment, rounds);
  print(variants, variants[1]);
  const double ratio = quantile(variants[2].microseconds, 0.5) / quantile(variants[1].microseconds, 0.5);
  std::printf("shim / floor: %.3f, limit %.2f\n", ratio, limit);
  return ratio <= limit ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fputs("usage: shim_start SHIM GATELESS WITH_LIBC FLOOR TARGET PROGRAM [ROUNDS [LIMIT]]\n", stderr);
    return 2;
  }
  try {
    return compare(argv, argc > 7 ? std::atoi(argv[7]) : 2000, argc > 8 ? std::atof(argv[8]) : 0.80);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shim_start: %s\n", error.what());
    return 2;
  }
}
