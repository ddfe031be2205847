// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting programs side by side, for the measurements of this folder: in each round every variant once, in random
// order, by vfork, execve and wait4, on one core, with stdout thrown away. Medians of one run compare; those of two
// runs on a shared machine do not.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace fs = std::filesystem;

struct Variant {
  std::string name;
  std::vector<std::string> command;  // the first is the program's path
  int every = 1;                     // takes part in one round of so many; for what is slow
  std::vector<double> microseconds = {};
  std::vector<long> page_faults = {};
  std::vector<std::string> variables = {};  // in its environment, beside those of all
};

inline std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// An executable file. Programs under measurement are copies made by this: one as the linker left it on disk starts
// measurably slower.
inline void write_file(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
  fs::permissions(path, fs::perms(0755));
}

template <class T>
T quantile(std::vector<T> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

inline double now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

inline void pin_to_last_core() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &cores)) --last;
  CPU_ZERO(&cores);
  CPU_SET(last, &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

inline std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

// In a function of its own: a variable that lives across vfork may be spoilt by the child.
[[gnu::noinline]] inline int run(char* const* arguments, char* const* environment, int output, rusage& usage) {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::execve(arguments[0], arguments, environment);
    ::_exit(126);
  }
  int status = -1;
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return status;
}

// Fills in the figures of each variant. The first rounds only warm up.
inline void measure(std::vector<Variant>& variants, std::vector<std::string> environment, int rounds) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::vector<std::vector<char*>> environments;
  for (Variant& variant : variants) {
    std::vector<char*> own = pointers(variant.variables);
    std::vector<char*>& all = environments.emplace_back(pointers(environment));
    all.insert(all.end() - 1, own.begin(), own.end() - 1);
  }
  std::vector<std::size_t> order(variants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(20);
  pin_to_last_core();
  for (int round = -20; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Variant& variant = variants[i];
      if (round % variant.every != 0) continue;
      const std::vector<char*> arguments = pointers(variant.command);
      rusage usage;
      const double start = now();
      const int status = run(arguments.data(), environments[i].data(), nowhere, usage);
      const double end = now();
      if (status != 0) throw std::runtime_error(variant.name + " failed");
      if (round < 0) continue;
      variant.microseconds.push_back(end - start);
      variant.page_faults.push_back(usage.ru_minflt);
    }
  }
  ::close(nowhere);
}

// A table with the ratio of each variant to one of them.
inline void print(const std::vector<Variant>& variants, const Variant& base) {
  std::printf("%-22s %10s %10s %12s %18s\n", "variant", "median us", "p10 us", "page faults",
              ("/ " + base.name).c_str());
  for (const Variant& variant : variants)
    std::printf("%-22s %10.1f %10.1f %12ld %18.3f\n", variant.name.c_str(), quantile(variant.microseconds, 0.5),
                quantile(variant.microseconds, 0.1), quantile(variant.page_faults, 0.5),
                quantile(variant.microseconds, 0.5) / quantile(base.microseconds, 0.5));
}

// A directory for one measurement; it goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string top = (fs::temp_directory_path() / "bench.XXXXXX").string();
    if (!::mkdtemp(top.data())) throw std::runtime_error("no temporary directory");
    m_top = top;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::current_path("/", ignored);
    fs::remove_all(m_top, ignored);
  }
  const fs::path& path() const { return m_top; }

 private:
  fs::path m_top;
};

// A root with 20 toolkits of 12.x whose nvcc is `tool`, and a project three directories above the working directory
// that says `12`, so 12.9.1. Changes into that directory; returns the environment for it.
inline std::vector<std::string> make_project(const fs::path& top, const std::string& tool) {
  const fs::path root = top / "home/.cudaenv";
  for (int minor = 0; minor < 10; ++minor)
    for (int patch = 0; patch < 2; ++patch) {
      const fs::path toolkit = root / "versions" / ("12." + std::to_string(minor) + "." + std::to_string(patch));
      write_file(toolkit / "bin/nvcc", tool);
      write_file(toolkit / "receipt.json", "{}\n");
    }
  const fs::path project = top / "home/project";
  write_file(project / ".cuda-version", "12\n");
  fs::create_directories(project / "a/b/c");
  fs::current_path(project / "a/b/c");
  fs::create_directories(top / "run");
  fs::permissions(top / "run", fs::perms(0700));
  return {"XDG_RUNTIME_DIR=" + (top / "run").string(), "HOME=" + (top / "home").string(), "PATH=/usr/bin:/bin",
          "PWD=" + (project / "a/b/c").string(), "CUDAENV_SHARED_ROOT="};
}

}  // namespace bench
