// SPDX-License-Identifier: Apache-2.0
#include "core/check.hpp"

#include <optional>

#include "check_rows.hpp"

// The gate as a whole; its two halves are in check_driver_test.cpp and check_gpu_test.cpp.

namespace cudaenv::core {
namespace {

using namespace test;
using enum ReasonKind;

class Check : public testing::TestWithParam<CheckRow> {};

TEST_P(Check, says) { expect(GetParam()); }

// The contract's rows, each toolkit on one machine.
const CheckRow k_contract_rows[] = {
    {"driver_550_ok", "12.4.1", with("550.54.14", "8.6"), k_ok, {}},
    {"driver_550_limited", "12.8.1", with("550.54.14", "8.6"), k_limited, {toolkit_newer}},
    {"driver_550_refused", "13.0.2", with("550.54.14", "8.6"), k_refused, {driver_too_old}},
    {"volta_ok", "12.9.1", with("580.95.05", "7.0"), k_ok, {gpu_deprecated}},
    {"volta_refused", "13.0.2", with("580.95.05", "7.0"), k_refused, {gpu_dropped}},
    {"turing_ok", "11.4.4", with("470.57.02", "7.5"), k_ok, {}},
    {"turing_limited", "11.8.0", with("470.57.02", "7.5"), k_limited, {toolkit_newer}},
    {"turing_refused", "12.1.1", with("470.57.02", "7.5"), k_refused, {driver_too_old}},
};
INSTANTIATE_TEST_SUITE_P(Contract, Check, testing::ValuesIn(k_contract_rows), RowName());

// --- The toolkit's own facts ---

TEST(CheckToolkit, ItsOwnListOutranksTheTable) {
  const Machine machine = with("580.95.05", "7.0");
  ToolkitFacts odd = cuda("13.0.2");
  odd.architectures = {90, 70, 80};
  EXPECT_EQ(check(odd, machine).verdict, k_ok);

  ToolkitFacts poor = cuda("12.4.1");
  poor.architectures = {90};
  const Assessment assessment = check(poor, machine);
  EXPECT_EQ(assessment.verdict, k_refused);
  EXPECT_EQ(kinds_in(assessment), names_of({gpu_dropped}));
}

TEST(CheckToolkit, WithoutAReleaseItsListStillDecides) {
  ToolkitFacts adopted{.name = "toolkit mine", .release = std::nullopt, .architectures = {75, 80}};
  EXPECT_EQ(check(adopted, with("550.54.14", "8.6")).verdict, k_limited);
  EXPECT_EQ(kinds_in(check(adopted, with("550.54.14", "8.0"))), names_of({toolkit_unknown}));
  adopted.architectures.clear();
  EXPECT_EQ(kinds_in(check(adopted, with("550.54.14", "8.0"))), names_of({toolkit_unknown}));
}

TEST(CheckToolkit, ReasonsOfTheMachineAreToldAsTheyAre) {
  Machine machine;
  machine.facts().driver_reason = "libcuda.so.1 is there and does not load";
  const Assessment assessment = check(cuda("12.4.1"), machine);
  EXPECT_EQ(assessment.reasons.front().text, "libcuda.so.1 is there and does not load");
}

TEST(CheckToolkit, LimitsOfTheDriverNameTheNewestArchitecture) {
  const Assessment assessment = check(cuda("12.8.1"), Machine().driver("550.54.14").gpu("9.0").gpu("8.6"));
  ASSERT_EQ(assessment.reasons.size(), 1u);
  EXPECT_EQ(assessment.reasons.front().architecture, 90);
}

// --- Suggestions ---

struct SuggestionRow {
  const char* name;
  const char* release;
  Machine machine;
  const char* nearest;  // "": none
  const char* best;
};

class Suggest : public testing::TestWithParam<SuggestionRow> {};

std::string shown(const std::optional<Version>& release) { return release ? to_text(*release) : ""; }

TEST_P(Suggest, names) {
  const SuggestionRow& row = GetParam();
  const Suggestion suggestion = suggest(registry::builtin(), cuda(row.release), row.machine.facts());
  EXPECT_EQ(shown(suggestion.release), row.nearest);
  EXPECT_EQ(shown(suggestion.best), row.best);
}

const SuggestionRow k_suggestions[] = {
    {"driver_too_old", "13.0.2", with("550.54.14", "8.6"), "12.9.2", "12.4.1"},
    {"gpu_dropped", "13.0.2", with("580.95.05", "7.0"), "12.9.2", "12.9.2"},
    {"gpu_too_new", "12.6.3", with("570.26", "12.0"), "12.8.2", "12.8.2"},
    {"hopper_DRV_03", "11.7.1", with("525.60.13", "9.0"), "11.8.0", "12.0.1"},
    {"what_can_be_installed_first", "10.2.89", with("470.57.02", "8.0"), "11.4.4", "11.4.4"},
    {"what_cannot_be_installed_rather_than_nothing", "11.8.0", with("470.57.02", "3.0"), "10.2.89", "10.2.89"},
    {"mixed_box", "13.0.2", Machine().driver("550.54.14").gpu("8.6").gpu("3.5"), "12.9.2", "11.8.0"},
    {"not_refused", "12.8.1", with("550.54.14", "8.6"), "", "12.4.1"},
    {"nothing_drives_it", "12.9.1", with("590.48.01", "7.0").described(), "", ""},
    {"no_driver", "12.8.1", Machine(), "", "13.5.0"},
    {"no_gpu", "13.0.2", Machine().driver("550.54.14"), "12.9.2", "12.4.1"},
};
INSTANTIATE_TEST_SUITE_P(Releases, Suggest, testing::ValuesIn(k_suggestions), RowName());

// Whatever toolkit is asked about.
struct NewestRow {
  const char* name;
  Machine machine;
  const char* newest;
  const char* best;
};

class NewestFits : public testing::TestWithParam<NewestRow> {};

TEST_P(NewestFits, are) {
  const Suggestion fits = newest_fits(registry::builtin(), GetParam().machine.facts());
  EXPECT_EQ(shown(fits.release), GetParam().newest);
  EXPECT_EQ(shown(fits.best), GetParam().best);
}

const NewestRow k_newest[] = {
    {"driver_550", with("550.54.14", "8.6"), "12.9.2", "12.4.1"},
    {"volta", with("580.95.05", "7.0"), "12.9.2", "12.9.2"},
    {"one_that_runs_everything", with("620.70.06", "9.0"), "13.5.0", "13.5.0"},
    {"mixed_box", Machine().driver("550.54.14").gpu("8.6").gpu("3.5"), "12.9.2", "11.8.0"},
    {"too_old_for_all_that_can_be_installed", with("470.57.02", "3.0"), "10.2.89", "10.2.89"},
    {"limited_at_best", with("525.85.12", "12.0"), "12.9.2", ""},
    {"nothing_drives_it", with("590.48.01", "7.0").described(), "", ""},
    {"without_a_driver", Machine(), "13.5.0", "13.5.0"},
    {"without_a_gpu", Machine().driver("550.54.14"), "12.9.2", "12.4.1"},
};
INSTANTIATE_TEST_SUITE_P(OfAll, NewestFits, testing::ValuesIn(k_newest), RowName());

struct FitRow {
  const char* name;
  std::vector<Version> releases;
  Machine machine;
  const char* fit;
};

class NewestFit : public testing::TestWithParam<FitRow> {};

TEST_P(NewestFit, is) {
  const FitRow& row = GetParam();
  EXPECT_EQ(shown(newest_fit(registry::builtin(), row.releases, row.machine.facts())), row.fit);
}

const FitRow k_fits[] = {
    {"the_newest_ok", {{12, 4, 1}, {12, 8, 1}, {11, 8, 0}, {13, 0, 2}}, with("550.54.14", "8.6"), "12.4.1"},
    {"limited_for_want_of_better", {{12, 6, 3}, {12, 8, 1}, {13, 0, 2}}, with("550.54.14", "8.6"), "12.8.1"},
    {"without_a_driver", {{12, 4, 1}, {13, 0, 2}}, Machine(), "13.0.2"},
    {"without_a_gpu", {{12, 4, 1}, {12, 8, 1}, {13, 0, 2}}, Machine().driver("550.54.14"), "12.4.1"},
    {"all_refused", {{13, 0, 2}}, with("550.54.14", "8.6"), ""},
    {"none_there", {}, with("550.54.14", "8.6"), ""},
};
INSTANTIATE_TEST_SUITE_P(Among, NewestFit, testing::ValuesIn(k_fits), RowName());

}  // namespace
}  // namespace cudaenv::core
