// SPDX-License-Identifier: Apache-2.0
#include "core/described_machine.hpp"

#include <gtest/gtest.h>

#include "core/version_text.hpp"
#include "registry/builtin.hpp"
#include "unit/core/named_rows.hpp"

namespace cudaenv::core {
namespace {

const Registry& facts() { return registry::builtin(); }

MachineDescription driver(std::string text) { return {std::move(text), std::nullopt}; }
MachineDescription gpus(std::vector<std::string> texts) { return {std::nullopt, std::move(texts)}; }

// --- The driver ---

struct DriverCase {
  const char* name;
  const char* text;
  const char* cuda;  // null: unknown
  bool is_at_least = false;
};

class DescribedDriver : public testing::TestWithParam<DriverCase> {};

TEST_P(DescribedDriver, has_the_cuda_of_its_branch) {
  const auto machine = describe_machine(driver(GetParam().text), facts());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_TRUE(machine->is_described);
  EXPECT_EQ(machine->driver, DriverStatus::present);
  EXPECT_EQ(machine->kernel_version_source, FactSource::description);
  EXPECT_EQ(machine->cuda ? to_text(*machine->cuda) : "", GetParam().cuda ? GetParam().cuda : "");
  EXPECT_EQ(machine->is_cuda_at_least, GetParam().is_at_least);
  EXPECT_EQ(machine->cuda_source, GetParam().cuda ? FactSource::branch_table : FactSource::nobody);
  EXPECT_EQ(machine->driver_reason.empty(), GetParam().cuda != nullptr);
  EXPECT_EQ(machine->gpu_status, GpuStatus::unknown);
  EXPECT_EQ(machine->gpu_reason, "no GPU was described");
}

INSTANTIATE_TEST_SUITE_P(Versions, DescribedDriver,
                         testing::Values(DriverCase{"three_numbers", "550.54.14", "12.4"},
                                         DriverCase{"two_numbers", "550.135", "12.4"},
                                         DriverCase{"blanks", " 470.57.02\n", "11.4"},
                                         DriverCase{"windows", "551.61", "12.4"},
                                         DriverCase{"uncertain_branch", "430.26", "10.1", true},
                                         DriverCase{"between_branches_of_two_majors", "577.00", "12.9", true},
                                         DriverCase{"newer_than_the_tables", "990.10", "13.5", true},
                                         DriverCase{"older_than_the_tables", "340.108", nullptr}),
                         test::RowName());

TEST(DescribedDriver, none_is_no_driver) {
  const auto machine = describe_machine(driver("none"), facts());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->driver, DriverStatus::absent);
  EXPECT_FALSE(machine->cuda);
}

struct BadCase {
  const char* name;
  const char* text;
  const char* message;
  const char* hint;
};

class BadDriver : public testing::TestWithParam<BadCase> {};

TEST_P(BadDriver, is_refused_with_what_was_expected) {
  const auto machine = describe_machine(driver(GetParam().text), facts());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::usage);
  EXPECT_EQ(machine.error().message, std::string("--driver ") + GetParam().message);
  EXPECT_EQ(machine.error().hint, std::string("--driver ") + GetParam().hint);
}

constexpr const char* k_driver_expected = ": expected the version of a driver, such as 550.54.14, or none";

INSTANTIATE_TEST_SUITE_P(
    Texts, BadDriver,
    testing::Values(
        BadCase{"empty", "", ": expected the version of a driver, such as 550.54.14, or none", "550.54.14"},
        BadCase{"word", "new", "new: expected the version of a driver, such as 550.54.14, or none", "550.54.14"},
        BadCase{"one_number", "550", "550: expected the version of a driver, such as 550.54.14, or none", "550.54.14"},
        BadCase{"a_cuda_version", "12.4",
                "12.4: expected the version of a driver, such as 550.54.14, or none; CUDA 12.4 came with "
                "driver 550.54.15",
                "550.54.15"},
        BadCase{"small_numbers", "1.2", "1.2: expected the version of a driver, such as 550.54.14, or none",
                "550.54.14"},
        BadCase{"control_bytes", "5\x1b[m", "5\\x1b[m: expected the version of a driver, such as 550.54.14, or none",
                "550.54.14"}),
    test::RowName());

TEST(BadDriver, of_a_variable_is_written_as_one) {
  const auto machine = describe_machine(driver("new"), facts(), {"CUDAENV_OVERRIDE_DRIVER", "CUDAENV_OVERRIDE_GPUS"});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message, std::string("CUDAENV_OVERRIDE_DRIVER=new") + k_driver_expected);
  EXPECT_EQ(machine.error().hint, "CUDAENV_OVERRIDE_DRIVER=550.54.14");
}

// --- GPUs ---

TEST(DescribedGpus, by_capability_and_name) {
  const auto machine =
      describe_machine(gpus({"8.6", " 12.0", "NVIDIA GeForce RTX 4090", "tesla v100 sxm2 16gb"}), facts());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->driver, DriverStatus::unknown);
  EXPECT_EQ(machine->driver_reason, "no driver was described");
  EXPECT_EQ(machine->gpu_status, GpuStatus::known);
  EXPECT_EQ(machine->gpu_source, FactSource::description);
  ASSERT_EQ(machine->gpus.size(), 4U);
  EXPECT_EQ(machine->gpus[0].capability, (ComputeCapability{8, 6}));
  EXPECT_EQ(machine->gpus[1].capability, (ComputeCapability{12, 0}));
  EXPECT_EQ(machine->gpus[1].index, 1U);
  EXPECT_EQ(machine->gpus[2].capability, (ComputeCapability{8, 9}));
  EXPECT_EQ(machine->gpus[2].name, "GeForce RTX 4090");
  EXPECT_EQ(machine->gpus[3].capability, (ComputeCapability{7, 0}));
}

TEST(DescribedGpus, none_is_no_gpu) {
  const auto machine = describe_machine(gpus({"none"}), facts());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->gpu_status, GpuStatus::none);
  EXPECT_TRUE(machine->gpus.empty());
}

TEST(DescribedGpus, DRV_06_are_counted_by_visible_devices) {
  MachineDescription description = gpus({"3.5", "8.6"});
  description.visible_devices = "1";
  const auto machine = describe_machine(description, facts());
  ASSERT_TRUE(machine);
  EXPECT_FALSE(machine->gpus[0].is_visible);
  EXPECT_TRUE(machine->gpus[1].is_visible);
  EXPECT_EQ(machine->visible_devices, "1");
}

TEST(DescribedGpus, can_all_be_hidden) {
  MachineDescription description = gpus({"8.6"});
  description.visible_devices = "";
  const auto machine = describe_machine(description, facts());
  ASSERT_TRUE(machine);
  EXPECT_FALSE(machine->gpus[0].is_visible);
  EXPECT_EQ(machine->gpu_reason, "CUDA_VISIBLE_DEVICES= lets programs see no GPU");
}

TEST(DescribedGpus, have_no_uuid_that_could_hide_them) {
  MachineDescription description = gpus({"8.6"});
  description.visible_devices = "GPU-8932f937";
  const auto machine = describe_machine(description, facts());
  ASSERT_TRUE(machine);
  EXPECT_TRUE(machine->gpus[0].is_visible);
  EXPECT_FALSE(machine->visible_devices);
}

class BadGpu : public testing::TestWithParam<BadCase> {};

TEST_P(BadGpu, is_refused_with_what_was_expected) {
  const auto machine = describe_machine(gpus({"8.6", GetParam().text}), facts());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::usage);
  EXPECT_EQ(machine.error().message, std::string("--gpu ") + GetParam().message);
  EXPECT_EQ(machine.error().hint, std::string("--gpu ") + GetParam().hint);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadGpu,
    testing::Values(BadCase{"empty", "", ": expected a compute capability, such as 8.6", "8.6"},
                    BadCase{"digits", "86", "86: expected a compute capability, such as 8.6", "8.6"},
                    BadCase{"three_digits", "120", "120: expected a compute capability, such as 8.6", "12.0"},
                    BadCase{"architecture", "sm_90", "sm_90: expected a compute capability, such as 8.6", "9.0"},
                    BadCase{"virtual_architecture", "compute_75",
                            "compute_75: expected a compute capability, such as 8.6", "7.5"},
                    BadCase{"three_numbers", "8.6.1", "8.6.1: expected a compute capability, such as 8.6", "8.6"},
                    BadCase{"zero", "0.0", "0.0: expected a compute capability, such as 8.6", "8.6"},
                    BadCase{"two_digit_minor", "8.60", "8.60: expected a compute capability, such as 8.6", "8.6"},
                    BadCase{"none_among_others", "none", "none: expected GPUs, or none alone", "none"},
                    BadCase{"misspelt", "GeForce RTX 4O90",
                            "GeForce RTX 4O90: expected a compute capability, such as 8.6, the name of a GPU, or none",
                            "'GeForce RTX 4090'"},
                    BadCase{"of_another_make", "Radeon",
                            "Radeon: expected a compute capability, such as 8.6, the name of a GPU, or none", "8.6"}),
    test::RowName());

TEST(BadGpu, whose_name_stands_for_two_chips_is_asked_for_its_capability) {
  // Whichever name the tables have with two rows.
  for (std::size_t i = 1; i < facts().gpus.size(); ++i) {
    if (facts().gpus[i].name != facts().gpus[i - 1].name) continue;
    const auto machine = describe_machine(gpus({std::string(facts().gpus[i].name)}), facts());
    ASSERT_FALSE(machine);
    EXPECT_NE(machine.error().message.find("GPUs of that name have"), std::string::npos) << machine.error().message;
    EXPECT_EQ(machine.error().hint, "--gpu " + to_text(*&facts().gpus[i - 1].capability));
    return;
  }
  GTEST_SKIP() << "no name in the tables has two capabilities";
}

TEST(GpuList, is_split_at_commas) {
  EXPECT_EQ(split_gpu_list("8.6,12.0"), (std::vector<std::string>{"8.6", "12.0"}));
  EXPECT_EQ(split_gpu_list(" 8.6 , RTX 4090"), (std::vector<std::string>{"8.6", "RTX 4090"}));
  EXPECT_EQ(split_gpu_list("none"), (std::vector<std::string>{"none"}));
  EXPECT_EQ(split_gpu_list("8.6,"), (std::vector<std::string>{"8.6", ""}));
}

}  // namespace
}  // namespace cudaenv::core
