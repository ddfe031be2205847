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

INSTANTIATE_TEST_SUITE_P(
    Versions, DescribedDriver,
    testing::Values(DriverCase{"three_numbers", "550.54.14", "12.4"}, DriverCase{"two_numbers", "550.135", "12.4"},
                    DriverCase{"branch_alone", "550", "12.4"}, DriverCase{"as_a_tag_is_written", "v550.54.14", "12.4"},
                    DriverCase{"branch_as_a_tag", "v550", "12.4"},
                    DriverCase{"branch_newer_than_the_tables", "990", "13.5", true},
                    DriverCase{"blanks", " 470.57.02\n", "11.4"}, DriverCase{"windows", "551.61", "12.4"},
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
  std::string message;
  const char* hint;
};

class BadDriver : public testing::TestWithParam<BadCase> {};

TEST_P(BadDriver, is_refused_with_what_was_expected) {
  const auto machine = describe_machine(driver(GetParam().text), facts());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::usage);
  EXPECT_EQ(machine.error().message, std::string("--driver ") + GetParam().message);
  EXPECT_EQ(machine.error().hint, std::string("cudaenv check --driver ") + GetParam().hint);
}

const std::string k_driver_expected = ": expected the version of a driver, such as 550.54.14, its branch, 550, or none";

const BadCase k_bad_drivers[] = {
    {"empty", "", k_driver_expected, "550.54.14"},
    {"word", "new", "new" + k_driver_expected, "550.54.14"},
    {"v_alone", "v", "v" + k_driver_expected, "550.54.14"},
    {"two_vs", "vv550", "vv550" + k_driver_expected, "550.54.14"},
    {"capital_v", "V550", "V550" + k_driver_expected, "550.54.14"},
    {"small_number", "12", "12" + k_driver_expected + "; CUDA 12.0 came with driver 525.85.12", "525.85.12"},
    {"smaller_number", "5", "5" + k_driver_expected, "550.54.14"},
    {"a_cuda_version", "12.4", "12.4" + k_driver_expected + "; CUDA 12.4 came with driver 550.54.15", "550.54.15"},
    {"small_numbers", "1.2", "1.2" + k_driver_expected, "550.54.14"},
    {"five_numbers", "550.1.2.3.4", "550.1.2.3.4" + k_driver_expected, "550.54.14"},
    {"control_bytes", "5\x1b[m", "5\\x1b[m" + k_driver_expected, "550.54.14"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadDriver, testing::ValuesIn(k_bad_drivers), test::RowName());

const DescriptionPlaces k_variables = {"CUDAENV_OVERRIDE_DRIVER", "CUDAENV_OVERRIDE_GPUS"};

TEST(BadDriver, of_a_variable_is_written_as_one) {
  const auto machine = describe_machine(driver("new"), facts(), k_variables);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message, "CUDAENV_OVERRIDE_DRIVER=new" + k_driver_expected);
  EXPECT_EQ(machine.error().hint, "export CUDAENV_OVERRIDE_DRIVER=550.54.14");
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
  for (const char* uuid : {"GPU-8932f937", " GPU-8932f937,1", "MIG-8932f937", "MIG-GPU-8932f937/1/0"}) {
    MachineDescription description = gpus({"8.6"});
    description.visible_devices = uuid;
    const auto machine = describe_machine(description, facts());
    ASSERT_TRUE(machine);
    EXPECT_TRUE(machine->gpus[0].is_visible) << uuid;
    EXPECT_FALSE(machine->visible_devices) << uuid;
    EXPECT_EQ(machine->gpu_reason, "") << uuid;
  }
}

TEST(DescribedGpus, are_hidden_by_what_is_no_number) {
  for (const char* word : {"NoDevFiles", "-1", "none", "gpu-8932f937", "x,0"}) {
    MachineDescription description = gpus({"8.6"});
    description.visible_devices = word;
    const auto machine = describe_machine(description, facts());
    ASSERT_TRUE(machine);
    EXPECT_FALSE(machine->gpus[0].is_visible) << word;
    EXPECT_EQ(machine->visible_devices, word);
    EXPECT_EQ(machine->gpu_reason, std::string("CUDA_VISIBLE_DEVICES=") + word + " lets programs see no GPU");
  }
}

struct GpuCase {
  const char* name;
  const char* text;
  const char* capability;
  const char* product = "";  // as it will be called
};

class DescribedGpu : public testing::TestWithParam<GpuCase> {};

TEST_P(DescribedGpu, is_known_by_what_a_person_writes) {
  const auto machine = describe_machine(gpus({GetParam().text}), facts());
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 1U);
  EXPECT_EQ(to_text(*machine->gpus[0].capability), GetParam().capability);
  EXPECT_EQ(machine->gpus[0].name, GetParam().product);
}

INSTANTIATE_TEST_SUITE_P(Texts, DescribedGpu,
                         testing::Values(GpuCase{"capability", "8.9", "8.9"}, GpuCase{"digits", "89", "8.9"},
                                         GpuCase{"three_digits", "120", "12.0"},
                                         GpuCase{"architecture", "sm_89", "8.9"},
                                         GpuCase{"virtual_architecture", "compute_89", "8.9"},
                                         GpuCase{"capability_that_no_table_knows", "42.0", "42.0"},
                                         GpuCase{"model", "RTX 4090", "8.9", "GeForce RTX 4090"},
                                         GpuCase{"number_of_a_model", "4090", "8.9", "GeForce RTX 4090"},
                                         GpuCase{"without_blanks", "rtx4090", "8.9", "GeForce RTX 4090"},
                                         GpuCase{"another_family", "A6000", "8.6", "RTX A6000"},
                                         GpuCase{"family", "Tesla V100", "7.0", "Tesla V100 DGXS 16GB"},
                                         GpuCase{"memory", "A100 80GB", "8.0", "A100 80GB PCIe"}),
                         test::RowName());

// --- Jetson ---

TEST(DescribedJetson, has_a_driver_whose_number_does_not_say_its_cuda) {
  MachineDescription description = gpus({"8.7"});
  description.driver = "540.4.0";
  const auto machine = describe_machine(description, facts());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->host, HostKind::tegra);
  EXPECT_EQ(machine->driver, DriverStatus::present);
  EXPECT_EQ(machine->kernel_version, parse_dotted_version("540.4.0"));
  EXPECT_FALSE(machine->cuda);
  EXPECT_FALSE(machine->is_cuda_at_least);
  EXPECT_EQ(machine->cuda_source, FactSource::nobody);
  EXPECT_EQ(machine->driver_reason, "the number of a Jetson's driver does not say its CUDA version");
}

TEST(DescribedJetson, is_one_by_its_name_and_without_a_driver_too) {
  const auto machine = describe_machine(gpus({"Jetson AGX Orin"}), facts());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->host, HostKind::tegra);
  EXPECT_EQ(machine->driver_reason, "no driver was described");
  MachineDescription description = gpus({"8.7"});
  description.driver = "none";
  EXPECT_EQ(describe_machine(description, facts())->driver, DriverStatus::absent);
}

TEST(DescribedJetson, is_none_where_another_gpu_is_or_no_gpu) {
  MachineDescription description = gpus({"8.7", "8.6"});
  description.driver = "550.54.14";
  EXPECT_EQ(describe_machine(description, facts())->host, HostKind::plain);
  EXPECT_EQ(describe_machine(description, facts())->cuda, (Minor{12, 4}));
  description.gpus = {"none"};
  EXPECT_EQ(describe_machine(description, facts())->host, HostKind::plain);
  description.gpus.reset();
  EXPECT_EQ(describe_machine(description, facts())->host, HostKind::plain);
}

// --- What is no GPU ---

class BadGpu : public testing::TestWithParam<BadCase> {};

TEST_P(BadGpu, is_refused_with_what_was_expected) {
  const auto machine = describe_machine(gpus({"8.6", GetParam().text}), facts());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::usage);
  EXPECT_EQ(machine.error().message, std::string("--gpu ") + GetParam().message);
  EXPECT_EQ(machine.error().hint, std::string("cudaenv check --gpu ") + GetParam().hint);
}

const std::string k_capability_expected = ": expected a compute capability, such as 8.6";
const std::string k_name_expected = ": expected the name of a GPU, its compute capability, such as 8.6, or none";

const BadCase k_bad_gpus[] = {
    {"empty", "", k_capability_expected, "8.6"},
    {"one_digit", "9", "9" + k_capability_expected, "8.6"},
    {"five_digits", "12345", "12345" + k_capability_expected, "8.6"},
    {"three_numbers", "8.6.1", "8.6.1" + k_capability_expected, "8.6"},
    {"zero", "0.0", "0.0" + k_capability_expected, "8.6"},
    {"two_digit_minor", "8.60", "8.60" + k_capability_expected, "8.6"},
    {"none_among_others", "none", "none: expected GPUs, or none alone", "none"},
    {"misspelt", "GeForce RTX 4O90", "GeForce RTX 4O90" + k_name_expected, "'GeForce RTX 4090'"},
    {"of_another_make", "Radeon", "Radeon" + k_name_expected, "CAPABILITY"},
    {"family_alone", "GeForce", "GeForce" + k_name_expected, "CAPABILITY"},
    {"two_kinds", "RTX 6000",
     "RTX 6000: expected one GPU: Quadro RTX 6000 (7.5) or RTX 6000 Ada (8.9) or RTX 6000D (12.0)", "7.5"},
    {"one_name_of_two_chips", "GT 1030", "GT 1030: expected one GPU: GeForce GT 1030 (3.0) or GeForce GT 1030 (6.1)",
     "3.0"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadGpu, testing::ValuesIn(k_bad_gpus), test::RowName());

TEST(BadGpu, that_nobody_knows_is_looked_up_at_nvidias) {
  const auto machine = describe_machine(gpus({"Radeon"}), facts());
  ASSERT_EQ(machine.error().details.size(), 1U);
  EXPECT_NE(machine.error().details[0].find("https://developer.nvidia.com/cuda-gpus"), std::string::npos);
  EXPECT_TRUE(describe_machine(gpus({"GeForce RTX 4O90"}), facts()).error().details.empty());
}

TEST(BadGpu, of_a_variable_is_written_as_one) {
  const auto machine = describe_machine(gpus({"8.6", "fast"}), facts(), k_variables);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message, "CUDAENV_OVERRIDE_GPUS=fast" + k_name_expected);
  EXPECT_EQ(machine.error().hint.find("export CUDAENV_OVERRIDE_GPUS="), 0U) << machine.error().hint;
}

TEST(GpuList, is_split_at_commas) {
  EXPECT_EQ(split_gpu_list("8.6,12.0"), (std::vector<std::string>{"8.6", "12.0"}));
  EXPECT_EQ(split_gpu_list(" 8.6 , RTX 4090"), (std::vector<std::string>{"8.6", "RTX 4090"}));
  EXPECT_EQ(split_gpu_list("none"), (std::vector<std::string>{"none"}));
  EXPECT_EQ(split_gpu_list("8.6,"), (std::vector<std::string>{"8.6", ""}));
}

}  // namespace
}  // namespace cudaenv::core
