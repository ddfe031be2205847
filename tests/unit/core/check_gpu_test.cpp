// SPDX-License-Identifier: Apache-2.0
#include "check_rows.hpp"
#include "core/check_rules.hpp"

// The GPUs' half of the gate's rules.

namespace cudaenv::core {
namespace {

using namespace test;
using enum ReasonKind;

class CheckGpu : public testing::TestWithParam<CheckRow> {};

TEST_P(CheckGpu, says) { expect(GetParam()); }

const CheckRow k_gpu_rows[] = {
    // compat_rules 9.5 and contract 7: dropped, too new, lower minor.
    {"volta_dropped",
     "13.0.2",
     with("580.95.05", "7.0", "Tesla V100-SXM2-16GB"),
     k_refused,
     {gpu_dropped},
     {"CUDA 13.0.2", "GPU 0 (Tesla V100-SXM2-16GB, 7.0)", "Volta 7.0 is gone from CUDA 13.0 on", "12.9"}},
    {"volta_in_the_last_toolkit",
     "12.9.1",
     with("580.95.05", "7.0"),
     k_ok,
     {gpu_deprecated},
     {"last toolkit with 7.0: 12.9"}},
    {"blackwell_too_new",
     "12.6.3",
     with("570.26", "12.0", "NVIDIA GeForce RTX 5090"),
     k_refused,
     {gpu_too_new},
     {"GPU 0 (NVIDIA GeForce RTX 5090, 12.0)", "first toolkit with 12.0: 12.8"}},
    {"blackwell_known", "12.8.1", with("570.26", "12.0"), k_ok, {}},
    {"hopper_too_new_DRV_03",
     "11.7.1",
     with("525.60.13", "9.0"),
     k_refused,
     {gpu_too_new},
     {"first toolkit with 9.0: 11.8"}},
    {"ada_lower_minor_DRV_03",
     "11.7.1",
     with("525.60.13", "8.9", "NVIDIA GeForce RTX 4090"),
     k_limited,
     {gpu_lower_minor},
     {"8.9", "11.7", "build for sm_86", "first toolkit with 8.9: 11.8"},
     {"sm_87"}},
    {"ada_lower_minor_11_5_DRV_03", "11.5.2", with("525.60.13", "8.9"), k_limited, {gpu_lower_minor}, {"sm_86"}},
    {"ada_known_DRV_03", "11.8.0", with("525.60.13", "8.9"), k_ok, {}},
    {"ada_lower_minor_on_older_driver",
     "11.7.1",
     with("495.29.05", "8.9"),
     k_limited,
     {toolkit_newer, gpu_lower_minor},
     {"-arch=sm_86"},
     {"sm_87", "sm_89"}},
    {"blackwell_ultra_lower_minor",
     "12.8.1",
     with("575.51.03", "10.3"),
     k_limited,
     {gpu_lower_minor},
     {"sm_100"},
     {"sm_101 "}},
    {"fermi_older_than_all_tables", "10.2.89", with("440.33", "2.0"), k_refused, {gpu_dropped}, {"Fermi"}},
    {"gpu_newer_than_all_tables", "13.5.0", with("620.70.06", "42.0"), k_refused, {gpu_too_new}, {"42.0"}},
    // Tegra chips share code with nobody (4.1).
    {"orin_runs_no_code_of_86",
     "11.3.1",
     Machine().on(HostKind::tegra).cuda({11, 4}).gpu("8.7"),
     k_refused,
     {gpu_too_new},
     {"11.4"}},
    {"thor_by_its_former_number", "12.9.1", Machine().on(HostKind::tegra).cuda({13, 0}).gpu("11.0"), k_ok, {}},
    {"thor_builds_by_its_former_number",
     "12.9.1",
     Machine().on(HostKind::tegra).cuda({12, 8}).gpu("11.0"),
     k_limited,
     {toolkit_newer},
     {"-arch=sm_101"}},
    {"xavier_dropped", "13.0.2", Machine().on(HostKind::tegra).cuda({13, 0}).gpu("7.2"), k_refused, {gpu_dropped}},
    // 9.5: several GPUs.
    {"mixed_box_DRV_06",
     "12.4.1",
     Machine().driver("550.54.14").gpu("8.6", "NVIDIA GeForce RTX 3090").gpu("3.5", "Tesla K40c"),
     k_limited,
     {gpu_dropped},
     {"GPU 1 (Tesla K40c, 3.5)", "11.8", "work on the other GPUs"},
     {"3090"}},
    {"mixed_box_other_order_DRV_06",
     "12.4.1",
     Machine().driver("550.54.14").gpu("3.5", "Tesla K40c").gpu("8.6"),
     k_limited,
     {gpu_dropped},
     {"GPU 0 (Tesla K40c, 3.5)"}},
    {"old_card_only_DRV_06", "12.4.1", with("550.54.14", "3.5"), k_refused, {gpu_dropped}},
    {"only_the_old_card_visible_DRV_06",
     "12.4.1",
     Machine().driver("550.54.14").hidden_gpu("8.6").gpu("3.5"),
     k_refused,
     {gpu_dropped},
     {"GPU 1 (3.5)"}},
    {"old_card_hidden_DRV_06", "12.4.1", Machine().driver("550.54.14").gpu("8.6").hidden_gpu("3.5"), k_ok, {}},
    {"none_of_several",
     "12.4.1",
     Machine().driver("570.26").gpu("3.5").gpu("12.0"),
     k_refused,
     {gpu_dropped, gpu_too_new}},
    {"old_card_beside_an_unknown_one",
     "12.4.1",
     Machine().driver("550.54.14").gpu("3.5").gpu("", "NVIDIA Something"),
     k_limited,
     {gpu_dropped, gpu_unknown},
     {"GPU 1 (NVIDIA Something)"}},
    {"capability_missing", "12.4.1", Machine().driver("550.54.14").gpu(""), k_unknown, {gpu_unknown}, {"GPU 0"}},
    {"several_of_a_kind_together",
     "13.0.2",
     Machine()
         .driver("580.95.05")
         .gpu("7.0", "Tesla V100-SXM2-16GB")
         .gpu("7.0", "Tesla V100-SXM2-16GB")
         .gpu("9.0")
         .gpu("7.0", "Tesla V100-SXM2-16GB")
         .gpu("7.0", "Tesla V100-PCIE-32GB"),
     k_limited,
     {gpu_dropped},
     {"GPUs 0-1, 3 (Tesla V100-SXM2-16GB, 7.0) and GPU 4 (Tesla V100-PCIE-32GB, 7.0)"}},
    {"every_gpu_hidden",
     "13.0.2",
     Machine().driver("580.95.05").hidden_gpu("7.0"),
     k_unknown,
     {gpu_unknown},
     {"CUDA_VISIBLE_DEVICES"}},
    {"no_gpu_listed_DET_13", "10.2.89", Machine().driver("440.33"), k_unknown, {gpu_unknown}, {"lists no GPU"}},
    {"no_gpu_listed_and_driver_too_old_DET_13",
     "12.4.1",
     Machine().driver("440.33"),
     k_refused,
     {driver_too_old, gpu_unknown}},
    // 9.6: deprecated.
    {"kepler_deprecated_in_11", "11.8.0", with("470.57.02", "3.7").cuda({11, 8}), k_ok, {gpu_deprecated}, {"11.8"}},
    // 9.7 and driver branches, for machines that are described.
    {"rubin_on_an_older_driver",
     "13.4.1",
     with("610.43.02", "10.7").described(),
     k_refused,
     {gpu_not_driven, toolkit_newer},
     {"first driver branch for Rubin 10.7 is 615", "use driver 615 or newer"}},
    {"blackwell_on_an_older_driver_without_code_for_it",
     "12.4.1",
     with("550.54.14", "12.0").described(),
     k_refused,
     {gpu_not_driven},
     {"the first driver branch for Blackwell 12.0 is 570, and CUDA 12.4.1 has no code for it either",
      "cure: use driver 570 or newer with CUDA 12.8 or newer;"}},
    {"blackwell_on_an_older_driver_with_code_for_it",
     "12.8.1",
     with("550.54.14", "12.0").described(),
     k_refused,
     {gpu_not_driven, toolkit_newer},
     {"cure: use driver 570 or newer;"},
     {"has no code"}},
    {"blackwell_not_driven_beside_one_that_is_served",
     "12.4.1",
     Machine().driver("550.54.14").gpu("12.0").gpu("8.6").described(),
     k_limited,
     {gpu_not_driven},
     {"cure: use driver 570 or newer, or work on the other GPUs;"}},
    {"kepler_after_its_last_driver_without_code_for_it",
     "13.0.2",
     with("580.95.05", "3.5").described(),
     k_refused,
     {gpu_not_driven},
     {"the last driver branch for Kepler 3.5 is 470", "cure: use driver 470 or older;"},
     {"either"}},
    {"rubin_that_the_driver_lists", "13.4.1", with("615.71.09", "10.7"), k_ok, {}},
    {"volta_after_its_last_driver",
     "12.9.1",
     with("590.48.01", "7.0").described(),
     k_refused,
     {gpu_not_driven},
     {"last driver branch for Volta 7.0 is 580", "use driver 580 or older"}},
    {"volta_that_a_newer_driver_lists_all_the_same", "12.9.1", with("590.48.01", "7.0"), k_ok, {gpu_deprecated}},
    {"described_and_driven", "12.4.1", with("550.54.14", "8.6").described(), k_ok, {}},
    {"only_a_gpu_was_named",
     "12.4.1",
     Machine().driver_status(DriverStatus::unknown).gpu("8.6").described(),
     k_unknown,
     {driver_unknown},
     {"no driver was named"}},
    {"only_a_driver_was_named",
     "12.4.1",
     Machine().driver("550.54.14").gpu_status(GpuStatus::unknown).described(),
     k_unknown,
     {gpu_unknown},
     {"no GPU was named"}},
    {"no_driver_and_a_gpu_that_cannot",
     "12.6.3",
     Machine().gpu("12.0").described(),
     k_refused,
     {gpu_too_new, driver_unknown}},
};
INSTANTIATE_TEST_SUITE_P(Gpu, CheckGpu, testing::ValuesIn(k_gpu_rows), RowName());

// --- The same in few words ---

struct BriefRow {
  const char* name;
  const char* release;  // empty: an adopted toolkit that does not say
  Machine machine;
  const char* brief;  // of the first reason of that kind
};

class Brief : public testing::TestWithParam<std::pair<ReasonKind, BriefRow>> {};

TEST_P(Brief, says) {
  const auto& [kind, row] = GetParam();
  const ToolkitFacts adopted{.name = "toolkit mine", .release = std::nullopt, .architectures = {}};
  const Assessment assessment = check(*row.release == 0 ? adopted : cuda(row.release), row.machine);
  for (const Reason& reason : assessment.reasons) {
    if (reason.kind != kind) continue;
    EXPECT_EQ(reason.brief, row.brief);
    return;
  }
  FAIL() << told(assessment);
}

struct BriefName {
  std::string operator()(const testing::TestParamInfo<std::pair<ReasonKind, BriefRow>>& info) const {
    return info.param.second.name;
  }
};

const std::pair<ReasonKind, BriefRow> k_briefs[] = {
    {driver_unknown, {"driver_unknown", "12.8.1", Machine(), "no driver found"}},
    {driver_unknown,
     {"driver_unknown_for_a_reason", "9.2.88", Machine().driver("340.108"),
      "not known whether driver 340.108 runs CUDA 9.2.88"}},
    {driver_newer_than_us,
     {"driver_newer_than_us", "14.0.0", Machine().driver("640.10").cuda_at_least({13, 5}).gpu("9.0"),
      "not known whether driver 640.10 runs CUDA 14.0.0: this cudaenv knows no more of it than CUDA 13.5 or newer"}},
    {driver_too_old, {"driver_too_old", "13.0.2", with("550.54.14", "8.6"), "needs driver 580.65.06 or newer"}},
    {driver_below_minimum,
     {"driver_below_minimum", "11.4.4", with("450.36.06", "7.5"), "needs driver 450.80.02 or newer"}},
    {toolkit_newer,
     {"toolkit_newer", "12.8.1", with("550.54.14", "8.6"),
      "newer than the driver's CUDA 12.4: build for sm_86, its PTX does not load (error 222)"}},
    {toolkit_newer,
     {"toolkit_newer_without_a_gpu", "12.8.1", Machine().driver("550.54.14"),
      "newer than the driver's CUDA 12.4: build for your GPU's own sm_ number, its PTX does not load (error 222)"}},
    {toolkit_newer,
     {"toolkit_newer_of_the_same_ptx", "12.6.3", with("555.42.06", "8.6"),
      "newer than the driver's CUDA 12.5: functions new in it fail (error 36)"}},
    {gpu_unknown,
     {"gpu_unknown", "12.4.1", Machine().driver("550.54.14"),
      "the driver lists no GPU (asleep, not passed to the container, or too new for it)"}},
    {gpu_unknown,
     {"gpu_hidden", "12.4.1", Machine().driver("550.54.14").hidden_gpu("8.6"), "CUDA_VISIBLE_DEVICES hides every GPU"}},
    {toolkit_unknown, {"toolkit_unknown", "", with("550.54.14", "8.6"), "toolkit mine does not say its release"}},
    {toolkit_unknown,
     {"toolkit_that_no_table_knows", "14.0.0", with("620.70.06", "9.0"),
      "the tables do not say which GPUs CUDA 14.0.0 has code for"}},
    {gpu_dropped,
     {"gpu_dropped", "13.0.2", with("580.95.05", "7.0", "Tesla V100-SXM2-16GB"),
      "no code for GPU 0 (7.0); the last with it is 12.9"}},
    {gpu_dropped,
     {"gpus_dropped", "13.0.2", Machine().driver("580.95.05").gpu("7.0").gpu("7.0").gpu("9.0"),
      "no code for GPUs 0-1 (7.0); the last with it is 12.9"}},
    {gpu_dropped, {"gpu_of_no_toolkit", "10.2.89", with("440.33", "2.0"), "no code for GPU 0 (2.0)"}},
    {gpu_too_new,
     {"gpu_too_new", "12.6.3", with("570.26", "12.0"), "no code for GPU 0 (12.0); the first with it is 12.8"}},
    {gpu_too_new, {"gpu_of_no_toolkit_yet", "13.5.0", with("620.70.06", "42.0"), "no code for GPU 0 (42.0)"}},
    {gpu_not_driven,
     {"gpu_not_driven", "12.9.1", with("590.48.01", "7.0").described(), "driver 590.48.01 does not drive GPU 0 (7.0)"}},
    {gpu_lower_minor,
     {"gpu_lower_minor", "11.7.1", with("525.60.13", "8.9", "NVIDIA GeForce RTX 4090"),
      "build for sm_86, which GPU 0 (8.9) runs"}},
    {gpu_deprecated, {"gpu_deprecated", "12.9.1", with("580.95.05", "7.0"), "GPU 0 (7.0) is deprecated in it"}},
};
INSTANTIATE_TEST_SUITE_P(Each, Brief, testing::ValuesIn(k_briefs), BriefName());

// --- Whether a newer driver could help at all ---

struct ServeRow {
  const char* name;
  Machine machine;
  bool can_serve;
};

class CanServe : public testing::TestWithParam<ServeRow> {};

TEST_P(CanServe, a_gpu) {
  const ToolkitFacts toolkit = cuda("13.0.2");  // 7.5 to 12.1
  EXPECT_EQ(can_serve_a_gpu(CheckCase(registry::builtin(), toolkit, GetParam().machine.facts())), GetParam().can_serve);
}

const ServeRow k_serve[] = {
    {"own_code", Machine().gpu("8.6"), true},
    {"no_code", Machine().gpu("7.0"), false},
    {"one_of_two", Machine().gpu("7.0").gpu("8.6"), true},
    {"none_of_two", Machine().gpu("7.0").gpu("42.0"), false},
    {"hidden_ones_do_not_count", Machine().gpu("7.0").hidden_gpu("8.6"), false},
    {"one_that_cannot_be_told", Machine().gpu("7.0").gpu(""), true},
    {"all_hidden", Machine().hidden_gpu("7.0"), true},
    {"none_known", Machine(), true},
    {"none_there", Machine().gpu_status(GpuStatus::none), true},
};
INSTANTIATE_TEST_SUITE_P(Gpus, CanServe, testing::ValuesIn(k_serve), RowName());

TEST(CanServeNobodyKnows, ACodeListThatIsUnknownMayServe) {
  const ToolkitFacts toolkit = cuda("14.0.0");
  const Machine machine = Machine().gpu("7.0");
  EXPECT_TRUE(can_serve_a_gpu(CheckCase(registry::builtin(), toolkit, machine.facts())));
}

// --- Which code runs where ---

TEST(FitOf, TakesOwnCodeThenALowerMinorOfTheSameMajor) {
  const std::vector<std::uint16_t> codes{75, 80, 86, 87, 90};
  const auto code = [&](ComputeCapability gpu) { return fit_of(registry::builtin(), codes, gpu).code; };
  EXPECT_EQ(code({8, 6}), 86);
  EXPECT_EQ(code({8, 9}), 86);  // 87 is Orin's
  EXPECT_EQ(code({8, 7}), 87);
  EXPECT_EQ(code({7, 0}), 0);
  EXPECT_EQ(code({10, 0}), 0);
}

TEST(FitOf, TegraRunsNoCodeButItsOwn) {
  const std::vector<std::uint16_t> codes{52, 60, 61, 86};
  for (const ComputeCapability gpu : {ComputeCapability{5, 3}, {6, 2}, {8, 7}})
    EXPECT_EQ(fit_of(registry::builtin(), codes, gpu).fit, Fit::none) << to_text(gpu);
}

TEST(GpuText, SaysWhatIsKnown) {
  EXPECT_EQ(to_text(Machine().gpu("7.0", "Tesla V100-SXM2-16GB").facts().gpus[0]), "GPU 0 (Tesla V100-SXM2-16GB, 7.0)");
  EXPECT_EQ(to_text(Machine().gpu("3.5").gpu("8.6").facts().gpus[1]), "GPU 1 (8.6)");
  EXPECT_EQ(to_text(Machine().gpu("").facts().gpus[0]), "GPU 0");
}

}  // namespace
}  // namespace cudaenv::core
