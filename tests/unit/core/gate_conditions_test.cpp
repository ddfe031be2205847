// SPDX-License-Identifier: Apache-2.0
#include "core/gate_conditions.hpp"

#include <functional>
#include <string>

#include "gate_fixture.hpp"
#include "named_rows.hpp"

namespace cudaenv::core {
namespace {

using namespace test;
using G = MemoryGate&;

class GateConditionsTest : public GateTest {};

// What an allowance may rest on, and what ends it.
struct ConditionRow {
  const char* name;
  std::function<void(G, Selection&)> change;
  bool holds_by_settings;
  bool holds_by_exemption;
};

class GateCondition : public GateConditionsTest, public testing::WithParamInterface<ConditionRow> {};

TEST_P(GateCondition, ends_with_what_it_rests_on) {
  system.touch("/home/u/.cudaenv/config.toml");
  system.touch("/home/u/.cudaenv/exemptions.json");
  const std::string by_settings = allow_line(digits(record->conditions().settings_condition(selection)));
  const std::string by_exemption = allow_line(digits(record->conditions().exemption_condition(selection)));
  ASSERT_TRUE(load_lines(by_settings));
  ASSERT_TRUE(allows());
  ASSERT_TRUE(load_lines(by_exemption));
  ASSERT_TRUE(allows());

  GetParam().change(system, selection);
  ASSERT_TRUE(load_lines(by_settings));
  EXPECT_EQ(allows(), GetParam().holds_by_settings);
  ASSERT_TRUE(load_lines(by_exemption));
  EXPECT_EQ(allows(), GetParam().holds_by_exemption);
  ASSERT_TRUE(load_lines(allow_line()));
  EXPECT_TRUE(allows());
}

const ConditionRow k_conditions[] = {
    {"nothing", [](G, Selection&) {}, true, true},
    {"own_settings", [](G s, Selection&) { s.touch("/home/u/.cudaenv/config.toml"); }, false, false},
    {"own_settings_removed", [](G s, Selection&) { s.stamps.erase("/home/u/.cudaenv/config.toml"); }, false, false},
    {"shared_settings", [](G s, Selection&) { s.touch("/opt/cudaenv/config.toml"); }, false, false},
    {"settings_of_the_project", [](G s, Selection&) { s.touch("/home/u/proj/.cudaenv.toml"); }, false, false},
    {"settings_of_another_project", [](G s, Selection&) { s.touch("/home/u/other/.cudaenv.toml"); }, true, true},
    {"exemptions", [](G s, Selection&) { s.touch("/home/u/.cudaenv/exemptions.json"); }, true, false},
    {"shared_exemptions_are_none", [](G s, Selection&) { s.touch("/opt/cudaenv/exemptions.json"); }, true, true},
    {"another_spec", [](G, Selection& selection) { selection.word = "12.4.1"; }, true, false},
    {"another_file_without_settings",
     [](G, Selection& selection) { selection.origin.path = "/home/u/other/.cuda-version"; }, true, false},
    {"another_line", [](G, Selection& selection) { selection.origin.line = 7; }, true, true},
    {"what_is_installed", [](G s, Selection&) { s.touch("/home/u/.cudaenv/versions"); }, true, true},
};
INSTANTIATE_TEST_SUITE_P(All, GateCondition, testing::ValuesIn(k_conditions), test::RowName());

TEST_F(GateConditionsTest, settings_of_a_project_count_where_its_file_selects) {
  system.touch("/home/u/proj/.cudaenv.toml");
  const std::uint64_t by_file = record->conditions().settings_condition(selection);
  selection.origin = {OriginKind::variable, "CUDAENV_VERSION", 0};
  const std::uint64_t by_variable = record->conditions().settings_condition(selection);
  EXPECT_NE(by_file, by_variable);
  system.touch("/home/u/proj/.cudaenv.toml");
  EXPECT_EQ(record->conditions().settings_condition(selection), by_variable);
}

TEST_F(GateConditionsTest, without_a_shared_root_there_is_nothing_of_it) {
  roots.shared.clear();
  const std::string before = name();
  const std::uint64_t settings = record->conditions().settings_condition(selection);
  const std::uint64_t installed = record->conditions().installed_condition();
  for (const char* path : {"/registry", "/config.toml", "/versions"}) system.touch(path);
  EXPECT_EQ(name(), before);
  EXPECT_EQ(record->conditions().settings_condition(selection), settings);
  EXPECT_EQ(record->conditions().installed_condition(), installed);
}

}  // namespace
}  // namespace cudaenv::core
