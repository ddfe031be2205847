// SPDX-License-Identifier: Apache-2.0
#include "core/shimmed_libraries.hpp"

#include <string>

#include <gtest/gtest.h>

namespace cudaenv::core {
namespace {

TEST(ShimmedLibrary, has_a_version_in_its_name) {
  for (const std::string_view file : {"libcudart.so.11.0", "libcublas.so.13", "libcublasLt.so.13.0.2.14",
                                      "libnppist.so.12", "libnvToolsExt.so.1", "libcurand.so.10", "libnvJitLink.so.12"})
    EXPECT_TRUE(is_shimmed_library(file)) << file;
  for (const std::string_view file :
       {"libcublas.so", "libcuda.so.1", "libstdc++.so.6", "libc.so.6", "libnvidia-ml.so.1", ""})
    EXPECT_FALSE(is_shimmed_library(file)) << file;
}

TEST(ShimmedLibrary, is_not_left_out) {
  for (const std::string_view stem : k_shimmed_libraries) {
    const std::string file = std::string(stem) + ".so.13";
    EXPECT_TRUE(is_shimmed_library(file)) << file;
    EXPECT_EQ(left_out_reason(file), "") << file;
  }
}

TEST(LeftOutLibrary, has_a_reason) {
  for (const std::string_view file :
       {"libcudnn.so.9", "libcudnn_ops.so.9", "libcufile.so.0", "libcufile_rdma.so.1", "libnvrtc-builtins.so.13.0",
        "libnvrtc.alt.so.13", "libnvvm.so.4", "libOpenCL.so.1", "libnvblas.so.13", "libcupti.so.13", "libnccl.so.2"}) {
    EXPECT_FALSE(is_shimmed_library(file)) << file;
    EXPECT_NE(left_out_reason(file), "") << file;
  }
}

}  // namespace
}  // namespace cudaenv::core
