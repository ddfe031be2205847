// SPDX-License-Identifier: Apache-2.0
#include "core/root_search.hpp"

#include <functional>
#include <string>

#include "memory_system.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using test::MemorySystem;
using S = MemorySystem&;

struct Row {
  const char* name;
  std::function<void(MemorySystem&)> arrange;
  std::string beside;
  std::string home;
  RootStatus status;
  std::string own = {};
  std::string shared = {};
};

class RootSearch : public testing::TestWithParam<Row> {};

TEST_P(RootSearch, finds) {
  const Row& row = GetParam();
  MemorySystem system;
  row.arrange(system);
  Roots roots;
  const RootOutcome outcome = find_roots(system, row.beside, row.home, roots);
  ASSERT_EQ(outcome.status, row.status);
  if (row.status == RootStatus::bad_variable) {
    EXPECT_EQ(outcome.value, system.variable(std::string(outcome.variable).c_str()));
    return;
  }
  EXPECT_EQ(roots.own.view(), row.own);
  EXPECT_EQ(roots.shared.view(), row.shared);
}

void nothing(S) {}
constexpr RootStatus found = RootStatus::found;

const Row k_rows[] = {
    {"default_in_the_home", nothing, "", "/home/u", found, "/home/u/.cudaenv"},
    {"home_with_a_slash_at_the_end", nothing, "", "/home/u//", found, "/home/u/.cudaenv"},
    {"home_is_the_top_directory", nothing, "", "/", found, "/.cudaenv"},
    {"variable_before_all", [](S s) { s.set("CUDAENV_ROOT", "/r"); }, "/b", "/home/u", found, "/r"},
    {"variable_with_slashes_at_the_end", [](S s) { s.set("CUDAENV_ROOT", "/r//"); }, "", "", found, "/r"},
    {"variable_is_the_top_directory", [](S s) { s.set("CUDAENV_ROOT", "/"); }, "", "", found, "/"},
    {"empty_variable_is_none", [](S s) { s.set("CUDAENV_ROOT", ""); }, "", "/home/u", found, "/home/u/.cudaenv"},
    {"root_that_a_shim_lies_in", nothing, "/b", "/home/u", found, "/b"},
    {"root_that_a_shim_lies_in_by_the_name_that_home_gives_it",
     [](S s) {
       s.directory("/data/root");
       s.link("/home/u/.cudaenv", "/data/root");
     },
     "/data/root", "/home/u", found, "/home/u/.cudaenv"},
    {"shim_of_a_shared_root_behind_a_link",
     [](S s) {
       s.set("CUDAENV_SHARED_ROOT", "/opt/c");
       s.directory("/data/c");
       s.link("/opt/c", "/data/c");
     },
     "/data/c", "/home/u", found, "/home/u/.cudaenv", "/opt/c"},
    {"root_that_a_shim_lies_in_without_home", nothing, "/b", "", found, "/b"},
    {"relative_variable", [](S s) { s.set("CUDAENV_ROOT", "r"); }, "/b", "/home/u", RootStatus::bad_variable},
    {"VER_01_carriage_return_in_the_variable", [](S s) { s.set("CUDAENV_ROOT", "/r\r"); }, "", "/home/u",
     RootStatus::bad_variable},
    {"too_long_variable", [](S s) { s.set("CUDAENV_ROOT", "/" + std::string(k_longest_root, 'r')); }, "", "/home/u",
     RootStatus::bad_variable},
    {"relative_home", nothing, "", "home/u", RootStatus::no_home},
    {"empty_home", nothing, "", "", RootStatus::no_home},
    {"home_with_a_line_feed", nothing, "", "/home/u\n", RootStatus::no_home},
    {"too_long_home", nothing, "", "/" + std::string(k_longest_root, 'h'), RootStatus::no_home},
    {"shared_by_default", [](S s) { s.directory("/opt/cudaenv"); }, "", "/home/u", found, "/home/u/.cudaenv",
     "/opt/cudaenv"},
    {"shared_by_variable", [](S s) { s.set("CUDAENV_SHARED_ROOT", "/sw/"); }, "", "/home/u", found, "/home/u/.cudaenv",
     "/sw"},
    {"shared_variable_in_place_of_the_default",
     [](S s) {
       s.directory("/opt/cudaenv");
       s.set("CUDAENV_SHARED_ROOT", "/sw");
     },
     "", "/home/u", found, "/home/u/.cudaenv", "/sw"},
    {"empty_shared_variable_is_none",
     [](S s) {
       s.directory("/opt/cudaenv");
       s.set("CUDAENV_SHARED_ROOT", "");
     },
     "", "/home/u", found, "/home/u/.cudaenv", ""},
    {"relative_shared_variable", [](S s) { s.set("CUDAENV_SHARED_ROOT", "sw"); }, "", "/home/u",
     RootStatus::bad_variable},
    {"SYS_03_shim_of_the_shared_root", [](S s) { s.directory("/opt/cudaenv"); }, "/opt/cudaenv", "/home/u", found,
     "/home/u/.cudaenv", "/opt/cudaenv"},
    {"SYS_03_shim_of_the_shared_root_without_home", [](S s) { s.directory("/opt/cudaenv"); }, "/opt/cudaenv", "", found,
     "/opt/cudaenv", ""},
    {"one_root_for_both",
     [](S s) {
       s.set("CUDAENV_ROOT", "/sw");
       s.set("CUDAENV_SHARED_ROOT", "/sw/");
     },
     "", "", found, "/sw", ""},
};

INSTANTIATE_TEST_SUITE_P(Rows, RootSearch, testing::ValuesIn(k_rows), test::RowName());

}  // namespace
}  // namespace cudaenv::core
