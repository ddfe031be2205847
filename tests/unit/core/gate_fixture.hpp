// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/gate_record.hpp"
#include "memory_gate.hpp"

namespace cudaenv::test {

constexpr const char* k_place = "/run/user/1000/cudaenv";
constexpr const char* k_toolkit = "/home/u/.cudaenv/versions/12.4.1";
constexpr const char* k_boot_id = "/proc/sys/kernel/random/boot_id";
constexpr const char* k_module = "/sys/module/nvidia/version";
constexpr const char* k_driver = "/proc/driver/nvidia/version";
constexpr const char* k_cgroup = "/proc/self/cgroup";
constexpr const char* k_mounts = "/proc/self/ns/mnt";

inline std::string digits(std::uint64_t fingerprint) {
  char text[core::k_fingerprint_size + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint));
  return text;
}

// A user's machine with a driver, one toolkit and a place for records.
class GateTest : public testing::Test {
 protected:
  GateTest() {
    roots.own.assign("/home/u/.cudaenv");
    roots.shared.assign("/opt/cudaenv");
    system.variables["XDG_RUNTIME_DIR"] = "/run/user/1000";
    system.own_directories = {"/run/user/1000", "/"};
    system.private_directories = {k_place, "/tmp/cudaenv-1000"};
    system.touch("/");
    system.files[k_boot_id] = "5b0f1d2e-0000-4000-8000-000000000001\n";
    system.files[k_module] = "550.54.14\n";
    system.links[k_mounts] = "mnt:[4026531841]";
    system.files[k_cgroup] = "0::/system.slice/slurm/job_1\n";
    for (const char* path : {k_toolkit, "/home/u/.cudaenv/versions", "/opt/cudaenv/versions"}) system.touch(path);
    selection.status = core::SelectionStatus::selected;
    selection.directory = k_toolkit;
    selection.word = "12.4";
    selection.origin = {core::OriginKind::project_file, "/home/u/proj/.cuda-version", 1};
  }

  // The file's path under the present circumstances.
  std::string name() {
    record->find_directory();
    record->append_name();
    return std::string(record->path().view());
  }
  bool load(const std::string& text) {
    system.files[name()] = text;
    return record->load();
  }
  bool load_lines(const std::string& lines) { return load(std::string(core::k_gate_record_head) + lines); }
  std::string toolkit_fingerprint() { return digits(record->conditions().toolkit_fingerprint(k_toolkit)); }
  std::string allow_line(const std::string& condition = "-") {
    return "allow " + toolkit_fingerprint() + " " + condition + " " + k_toolkit + "\n";
  }
  std::string automatic_line() {
    return "auto " + digits(record->conditions().installed_condition()) + " " + k_toolkit + "\n";
  }
  bool allows() { return record->allows(selection); }

  MemoryGate system;
  core::Roots roots;
  core::Selection selection;
  std::unique_ptr<core::GateRecord<MemoryGate>> record = std::make_unique<core::GateRecord<MemoryGate>>(system, roots);
};

}  // namespace cudaenv::test
