// SPDX-License-Identifier: Apache-2.0
//
// What a command shim adds to starting a tool, against the least that a static C program can do (shim_floor.c).
//
//   shim_start SHIM FLOOR TARGET [ROUNDS [LIMIT]]
//
// Builds a root with 20 toolkits and a project whose .cuda-version, three directories up, says `12`. Then, in
// each round, starts the tool itself, through the floor and through the shim, in random order, by vfork, execve
// and wait4, on one core. Every binary is a copy made here: one as the linker left it on disk starts measurably
// slower. Medians of one run compare; those of two runs on a shared machine do not. Exit status 1 if the ratio
// of shim to floor is above LIMIT.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Variant {
  const char* name;
  std::string path;
  std::vector<double> microseconds = {};
  std::vector<long> page_faults = {};
};

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
  fs::permissions(path, fs::perms(0755));
}

std::string floor_for(std::string bytes, const std::string& path) {
  const std::size_t at = bytes.find("@SHIM_FLOOR_PATH@");
  if (at == std::string::npos || path.size() >= 1024) throw std::runtime_error("not a floor program");
  return bytes.replace(at, path.size() + 1, path.c_str(), path.size() + 1);
}

// Starts a program and waits for it; its resource use in `usage`.
int run(const std::string& path, char* const* arguments, char* const* environment, rusage& usage) {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execve(path.c_str(), arguments, environment);
    ::_exit(126);
  }
  int status = -1;
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return status;
}

// What the program prints for one argument.
std::string where(const std::string& path, char* const* environment) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    std::string name = path;
    std::string argument = "where";
    char* arguments[] = {name.data(), argument.data(), nullptr};
    ::execve(path.c_str(), arguments, environment);
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

template <class T>
T quantile(std::vector<T> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

double now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

void pin_to_last_core() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &cores)) --last;
  CPU_ZERO(&cores);
  CPU_SET(last, &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

int measure(const fs::path& top, char** argv, int rounds, double limit) {
  const fs::path root = top / "home/.cudaenv";
  const std::string target = bytes_of(argv[3]);
  for (int minor = 0; minor < 10; ++minor)
    for (int patch = 0; patch < 2; ++patch) {
      const fs::path toolkit = root / "versions" / ("12." + std::to_string(minor) + "." + std::to_string(patch));
      write_file(toolkit / "bin/nvcc", target);
      write_file(toolkit / "receipt.json", "{}\n");
    }
  const fs::path tool = root / "versions/12.9.1/bin/nvcc";
  write_file(root / "shims/nvcc", bytes_of(argv[1]));
  write_file(top / "floor/nvcc", floor_for(bytes_of(argv[2]), tool));
  const fs::path project = top / "home/project";
  write_file(project / ".cuda-version", "12\n");
  fs::create_directories(project / "a/b/c");
  fs::current_path(project / "a/b/c");

  std::string home = "HOME=" + (top / "home").string();
  std::string path = "PATH=/usr/bin:/bin";
  std::string pwd = "PWD=" + (project / "a/b/c").string();
  std::string shared = "CUDAENV_SHARED_ROOT=";
  char* environment[] = {home.data(), path.data(), pwd.data(), shared.data(), nullptr};

  std::vector<Variant> variants = {
      {"target", tool}, {"floor", top / "floor/nvcc"}, {"shim", root / "shims/nvcc"}};
  for (const Variant& variant : variants)
    if (where(variant.path, environment) != tool.string())
      throw std::runtime_error(std::string(variant.name) + " starts " + where(variant.path, environment));

  pin_to_last_core();
  std::mt19937 random(20);
  std::vector<std::size_t> order = {0, 1, 2};
  for (int round = -20; round < rounds; ++round) {  // the first ones only warm up
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Variant& variant = variants[i];
      char* arguments[] = {variant.path.data(), nullptr};
      rusage usage;
      const double start = now();
      const int status = run(variant.path, arguments, environment, usage);
      const double end = now();
      if (status != 0) throw std::runtime_error(std::string(variant.name) + " failed");
      if (round < 0) continue;
      variant.microseconds.push_back(end - start);
      variant.page_faults.push_back(usage.ru_minflt);
    }
  }

  std::printf("%-8s %10s %10s %12s\n", "variant", "median us", "p10 us", "page faults");
  for (const Variant& variant : variants)
    std::printf("%-8s %10.1f %10.1f %12ld\n", variant.name, quantile(variant.microseconds, 0.5),
                quantile(variant.microseconds, 0.1), quantile(variant.page_faults, 0.5));
  const auto ratio = [&](double q) {
    return quantile(variants[2].microseconds, q) / quantile(variants[1].microseconds, q);
  };
  std::printf("shim / floor: %.3f (medians), %.3f (p10); limit %.2f\n", ratio(0.5), ratio(0.1), limit);
  return ratio(0.5) <= limit ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: shim_start SHIM FLOOR TARGET [ROUNDS [LIMIT]]\n", stderr);
    return 2;
  }
  std::string top = (fs::temp_directory_path() / "shim_start.XXXXXX").string();
  if (!::mkdtemp(top.data())) return 2;
  int status = 2;
  try {
    status = measure(top, argv, argc > 4 ? std::atoi(argv[4]) : 2000, argc > 5 ? std::atof(argv[5]) : 1.10);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shim_start: %s\n", error.what());
  }
  std::error_code ignored;
  fs::current_path("/", ignored);
  fs::remove_all(top, ignored);
  return status;
}
