// SPDX-License-Identifier: Apache-2.0
#include "core/gate_circumstances.hpp"

#include <functional>
#include <set>
#include <string>

#include "gate_fixture.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using namespace test;
using G = MemoryGate&;

class GateCircumstancesTest : public GateTest {};

// --- What is in the name ---

struct NameRow {
  const char* name;
  std::function<void(G)> change;
  bool is_another = true;
  std::function<void(G)> arrange = [](G) {};
};

class GateName : public GateCircumstancesTest, public testing::WithParamInterface<NameRow> {};

TEST_P(GateName, follows_the_circumstances) {
  GetParam().arrange(system);
  const std::string before = name();
  ASSERT_EQ(name(), before);
  GetParam().change(system);
  EXPECT_EQ(name() != before, GetParam().is_another);
}

std::function<void(G)> without(const char* path) {
  return [path](G s) { s.files.erase(path); };
}
std::function<void(G)> with(const char* path, const char* content) {
  return [=](G s) { s.files[path] = content; };
}
std::function<void(G)> group(const char* content) { return with(k_cgroup, content); }
std::function<void(G)> stamped(const char* path) {
  return [path](G s) { s.touch(path); };
}
const auto k_by_the_other_file = [](G s) {
  s.files.erase(k_module);
  s.files[k_driver] = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  now\n";
};

const NameRow k_host[] = {
    {"nothing_changed", [](G) {}, false},
    {"time_passed", [](G s) { s.time += 100'000; }, false},
    {"boot", with(k_boot_id, "5b0f1d2e-0000-4000-8000-000000000002\n")},
    {"boot_cannot_be_told", without(k_boot_id)},
    {"kernel_driver", with(k_module, "550.90.07\n")},
    {"kernel_driver_unloaded", without(k_module)},
    {"kernel_driver_by_the_other_file", k_by_the_other_file},
    {"kernel_driver_in_the_other_file", with(k_driver, "550.54.15"), true, k_by_the_other_file},
    {"kernel_driver_loaded", with(k_module, "550.54.14\n"), true, without(k_module)},
    {"the_other_file_beside_the_first", with(k_driver, "whatever"), false},
    {"mount_namespace", [](G s) { s.links[k_mounts] = "mnt:[4026532000]"; }},
    {"mount_namespace_cannot_be_told", [](G s) { s.links.clear(); }},
    {"another_mount", [](G s) { s.mounts["/"] = 43; }, true, [](G s) { s.mounts["/"] = 42; }},
    {"mount_namespace_where_mounts_are_told", [](G s) { s.links[k_mounts] = "mnt:[4026532000]"; }, false,
     [](G s) { s.mounts["/"] = 42; }},
    {"registry_in_the_root", stamped("/home/u/.cudaenv/registry")},
    {"registry_in_the_shared_root", stamped("/opt/cudaenv/registry")},
    {"newer_registry", stamped("/opt/cudaenv/registry"), true, stamped("/opt/cudaenv/registry")},
    {"file_in_the_registry", stamped("/opt/cudaenv/registry/gpus.toml"), true, stamped("/opt/cudaenv/registry")},
    {"file_in_the_registry_rewritten", stamped("/opt/cudaenv/registry/gpus.toml"), true,
     [](G s) {
       s.touch("/opt/cudaenv/registry");
       s.touch("/opt/cudaenv/registry/gpus.toml");
     }},
    {"registry_of_nobody", stamped("/registry"), false},
    {"root_directory", stamped("/")},
    {"root_directory_changed", [](G s) { ++s.stamps["/"].modified_seconds; }, false},
    {"toolkit_installed", stamped("/home/u/.cudaenv/versions"), false},
    {"settings", stamped("/home/u/.cudaenv/config.toml"), false},
    {"exemptions", stamped("/home/u/.cudaenv/exemptions.json"), false},
    {"files_below_another_root",
     [](G s) {
       s.variables["CUDAENV_HOST_ROOT"] = "/fake";
       s.files[std::string("/fake") + k_module] = "550.54.14\n";
     }},
    {"boot_below_another_root", with("/fake/proc/sys/kernel/random/boot_id", "2\n"), true,
     [](G s) { s.variables["CUDAENV_HOST_ROOT"] = "/fake"; }},
    {"boot_outside_of_another_root", with(k_boot_id, "2\n"), false,
     [](G s) { s.variables["CUDAENV_HOST_ROOT"] = "/fake"; }},
};
INSTANTIATE_TEST_SUITE_P(Host, GateName, testing::ValuesIn(k_host), test::RowName());

const NameRow k_groups[] = {
    {"v2_job", group("0::/system.slice/slurm/job_2\n")},
    {"v2_without_a_final_newline", group("0::/system.slice/slurm/job_1"), false},
    {"v2_session", group("0::/user.slice/user-1000.slice/session-2.scope\n"), false,
     group("0::/user.slice/user-1000.slice/session-1.scope\n")},
    {"v2_session_or_no_group", group(""), false, group("0::/user.slice/user-1000.slice/session-1.scope\n")},
    {"v2_session_after_a_job", group("0::/user.slice/s\n"), true},
    {"v1_devices", group("7:cpu,cpuacct:/\n5:devices:/slurm/job_2\n1:name=systemd:/x\n"), true,
     group("7:cpu,cpuacct:/\n5:devices:/slurm/job_1\n1:name=systemd:/x\n")},
    {"v1_other_controllers", group("7:cpu,cpuacct:/b\n5:devices:/slurm/job_1\n1:name=systemd:/y\n"), false,
     group("7:cpu,cpuacct:/a\n5:devices:/slurm/job_1\n1:name=systemd:/x\n")},
    {"v1_session", group("5:devices:/user.slice\n0::/user.slice/2\n"), false, group("5:devices:/user.slice\n")},
    {"v1_before_v2", group("0::/system.slice/b\n5:devices:/slurm/job_1\n"), false,
     group("5:devices:/slurm/job_1\n0::/system.slice/a\n")},
    {"no_group_at_all", without(k_cgroup)},
    {"lines_that_are_none", group("\n:\n::\ndevices\n"), true},
};
INSTANTIATE_TEST_SUITE_P(DeviceGroup, GateName, testing::ValuesIn(k_groups), test::RowName());

class GateVariable : public GateCircumstancesTest, public testing::WithParamInterface<const char*> {};

TEST_P(GateVariable, is_in_the_name_unset_empty_and_set) {
  const std::string unset = name();
  system.variables[GetParam()] = "";
  const std::string empty = name();
  system.variables[GetParam()] = "0";
  const std::string zero = name();
  system.variables[GetParam()] = "1";
  const std::string one = name();
  for (const auto& other : {zero, one}) EXPECT_NE(other, unset);
  EXPECT_EQ(empty == unset, std::string_view(GetParam()) == env_names::k_library_path);  // an empty list is none
  EXPECT_NE(empty, zero);
  EXPECT_NE(empty, one);
  EXPECT_NE(zero, one);
}

struct VariableName {
  std::string operator()(const testing::TestParamInfo<const char*>& variable) const { return variable.param; }
};
INSTANTIATE_TEST_SUITE_P(Each, GateVariable, testing::ValuesIn(env_names::k_of_the_gate), VariableName());

TEST_F(GateCircumstancesTest, value_of_one_variable_is_not_that_of_the_next) {
  for (std::size_t i = 0; i + 1 < std::size(env_names::k_of_the_gate); ++i) {
    system.variables = {{env_names::k_of_the_gate[i], "x"}};
    const std::string first = name();
    system.variables = {{env_names::k_of_the_gate[i + 1], "x"}};
    EXPECT_NE(name(), first) << env_names::k_of_the_gate[i];
  }
}

TEST_F(GateCircumstancesTest, what_cudaenv_puts_on_the_search_path_is_not_in_the_name) {
  const auto named = [&](const char* list) {
    system.variables[env_names::k_library_path] = list;
    return name();
  };
  const std::string none = named("");
  EXPECT_EQ(named("/home/u/.cudaenv/shims/lib"), none);
  EXPECT_EQ(named("/home/u/.cudaenv/versions/12.8.1/lib:/opt/cudaenv/shims/lib"), none);
  EXPECT_NE(named("/home/u/.cudaenv-other/lib"), none);
  EXPECT_NE(named("/home/u/.cudaenv"), none);
  const std::string driver = named("/opt/driver/lib");
  EXPECT_NE(driver, none);
  EXPECT_EQ(named("/home/u/.cudaenv/shims/lib:/opt/driver/lib"), driver);
  EXPECT_NE(named("/opt/driver/lib:/opt/other/lib"), named("/opt/other/lib:/opt/driver/lib"));
  EXPECT_NE(named(":/opt/driver/lib"), driver);
}

TEST_F(GateCircumstancesTest, other_variables_are_not_in_the_name) {
  const std::string before = name();
  for (const char* other : {"CUDAENV_VERSION", "CUDAENV_SHIM_DEPTH", "CUDA_HOME", "PATH", "HOME"}) {
    system.variables[other] = "x";
    EXPECT_EQ(name(), before) << other;
  }
}

TEST_F(GateCircumstancesTest, name_is_sixteen_digits_in_the_directory) {
  const std::string path = name();
  const std::string start = std::string(k_place) + "/gate-";
  ASSERT_TRUE(path.starts_with(start)) << path;
  EXPECT_TRUE(parse_fingerprint(path.substr(start.size()))) << path;
}

// --- Where it lies ---

struct PlaceRow {
  const char* name;
  const char* runtime;  // null: unset
  std::set<std::string> private_directories;
  std::string expected;  // empty: nowhere
};

class GatePlace : public GateCircumstancesTest, public testing::WithParamInterface<PlaceRow> {};

TEST_P(GatePlace, is_the_first_that_is_private) {
  const PlaceRow& row = GetParam();
  system.variables.clear();
  if (row.runtime) system.variables["XDG_RUNTIME_DIR"] = row.runtime;
  system.private_directories = row.private_directories;
  EXPECT_EQ(record->find_directory(), !row.expected.empty());
  EXPECT_EQ(record->path().view(), row.expected.empty() ? "/tmp/cudaenv-1000" : row.expected);
  EXPECT_FALSE(record->load());
}

constexpr const char* k_tmp = "/tmp/cudaenv-1000";
const std::string k_long(4090, 'x');
const PlaceRow k_places[] = {
    {"of_the_session", "/run/user/1000", {k_place, k_tmp}, k_place},
    {"session_not_private", "/run/user/1000", {k_tmp}, k_tmp},
    {"only_the_session", "/run/user/1000", {k_place}, k_place},
    {"no_session", nullptr, {k_place, k_tmp}, k_tmp},
    {"session_is_empty", "", {"/cudaenv", k_tmp}, k_tmp},
    {"session_is_relative", "run", {"run/cudaenv", k_tmp}, k_tmp},
    {"session_of_another_user", "/run/user/1001", {"/run/user/1001/cudaenv", k_tmp}, k_tmp},
    {"session_is_the_top", "/", {"//cudaenv", k_tmp}, "//cudaenv"},
    {"of_another_user", nullptr, {"/tmp/cudaenv-1001"}, ""},
    {"parent_alone_is_private", "/run/user/1000", {"/run/user/1000", "/tmp"}, ""},
    {"none", "/run/user/1000", {}, ""},
};
INSTANTIATE_TEST_SUITE_P(All, GatePlace, testing::ValuesIn(k_places), test::RowName());

TEST_F(GateCircumstancesTest, path_that_is_too_long_is_no_place) {
  system.variables["XDG_RUNTIME_DIR"] = "/" + k_long;
  system.own_directories.insert("/" + k_long);
  system.private_directories.insert(("/" + k_long + "/cudaenv").substr(0, 4095));
  EXPECT_TRUE(record->find_directory());
  EXPECT_EQ(record->path().view(), k_tmp);
}

TEST_F(GateCircumstancesTest, path_that_is_too_long_with_the_name_holds_no_record) {
  const std::string runtime = "/" + k_long.substr(0, 4080);
  system.variables["XDG_RUNTIME_DIR"] = runtime;
  system.own_directories.insert(runtime);
  system.private_directories.insert(runtime + "/cudaenv");
  ASSERT_TRUE(record->find_directory());
  EXPECT_FALSE(record->append_name());
  EXPECT_FALSE(load_lines(allow_line()));
}

}  // namespace
}  // namespace cudaenv::core
