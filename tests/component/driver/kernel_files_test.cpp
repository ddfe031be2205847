// SPDX-License-Identifier: Apache-2.0
#include "driver/kernel_files.hpp"

#include <gtest/gtest.h>

namespace cudaenv::driver {
namespace {

struct ProcFile {
  const char* name;
  const char* text;
  const char* version;
};

class VersionInProcFile : public testing::TestWithParam<ProcFile> {};

TEST_P(VersionInProcFile, is_the_first_number_after_module) {
  EXPECT_EQ(version_in_proc_file(GetParam().text), GetParam().version);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, VersionInProcFile,
    testing::Values(
        ProcFile{"proprietary",
                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Thu Oct 17 09:24:38 UTC 2024\n"
                 "GCC version:  gcc version 13.2.0 (Ubuntu 13.2.0-23ubuntu4)\n",
                 "550.135"},
        ProcFile{
            "open",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  615.71.09  Release Build  (dvs-builder@U16)  "
            "Tue Oct  6 12:00:00 UTC 2026\n",
            "615.71.09"},
        ProcFile{"open_arm", "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.124.06  Release Build\n",
                 "570.124.06"},
        ProcFile{"without_a_line_end", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02", "470.57.02"},
        ProcFile{"after_another_line", "\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed\n", "390.157"},
        ProcFile{"compiler_alone", "GCC version:  gcc version 12.2.0 Module 1.2\n", ""},
        ProcFile{"no_number", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  N/A\n", ""},
        ProcFile{"nothing", "", ""}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cudaenv::driver
