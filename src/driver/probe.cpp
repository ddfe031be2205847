// SPDX-License-Identifier: Apache-2.0
#include "driver/probe.hpp"

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <sys/resource.h>

#include "base/child.hpp"
#include "base/env_names.hpp"
#include "base/text.hpp"
#include "driver/kernel_files.hpp"
#include "driver/libraries.hpp"
#include "driver/questions.hpp"

namespace cudaenv::driver {
namespace {

std::optional<std::string> variable(const base::Environment& environment, const char* name) {
  const auto value = environment.get(name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

LibrarySearch search_of(const base::Environment& environment) {
  LibrarySearch search;
  for (const std::string_view directory : base::split(environment.value(env_names::k_driver_path), ':'))
    if (!directory.empty()) search.first.emplace_back(directory);
  search.host_root = environment.value(env_names::k_host_root);
  return search;
}

// libcuda reads these two itself.
void set_variable(const char* name, const std::optional<std::string>& value) {
  if (value)
    ::setenv(name, value->c_str(), 1);
  else
    ::unsetenv(name);
}

// A driver that crashes does so without our handlers, and without leaving a core file where the user works. A limit of
// 1 also keeps those that are piped to a program from being written (Linux, fs/coredump.c).
void prepare_to_crash() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void set_end(core::Observation& seen, const base::ChildOutcome& outcome, std::chrono::milliseconds deadline) {
  using End = base::ChildOutcome::End;
  if (seen.end == core::ProbeEnd::finished) {
    seen.end_call.clear();
    return;
  }
  seen.end = outcome.end == End::timed_out ? core::ProbeEnd::timed_out
             : outcome.end == End::killed  ? core::ProbeEnd::killed
                                           : core::ProbeEnd::exited;
  seen.end_number = outcome.end == End::timed_out ? static_cast<int>(deadline.count()) : outcome.number;
}

}  // namespace

core::Observation observe(const base::Environment& environment, const core::Registry& registry,
                          std::chrono::milliseconds deadline) {
  const LibrarySearch search = search_of(environment);
  core::Observation host = read_kernel_files(search.host_root);
  host.visible_devices = variable(environment, env_names::k_visible_devices);
  host.device_order = variable(environment, env_names::k_device_order);

  const auto outcome = base::run_child(
      [&](int output) {
        prepare_to_crash();
        set_variable(env_names::k_visible_devices, host.visible_devices);
        set_variable(env_names::k_device_order, host.device_order);
        ask_libraries(host, registry, search, output);
        return 0;
      },
      deadline);
  if (!outcome) return host;
  core::Observation seen = core::parse_observation(to_text(host) + outcome->output).value_or(std::move(host));
  set_end(seen, *outcome, deadline);
  return seen;
}

}  // namespace cudaenv::driver
