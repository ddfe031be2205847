// SPDX-License-Identifier: Apache-2.0
#include "shell/modulefile.hpp"

#include <gtest/gtest.h>

namespace cudaenv::shell {
namespace {

std::string lines_of(const core::EnvPlan& plan) {
  const std::string text = render_modulefile("12.8.1", plan);
  const std::string head = "conflict cuda\n";
  return text.substr(text.find(head) + head.size());
}

TEST(Modulefile, begins_as_both_programs_want_it) {
  EXPECT_EQ(render_modulefile("12.8.1", {}),
            "#%Module1.0\n"
            "proc ModulesHelp { } {\n"
            "  puts stderr \"NVIDIA CUDA toolkit 12.8.1\"\n"
            "}\n"
            "module-whatis \"NVIDIA CUDA toolkit 12.8.1\"\n"
            "conflict cuda\n");
}

TEST(Modulefile, of_a_toolkit_in_an_unknown_environment) {
  core::EnvironmentSettings settings;
  settings.library_path = core::LibraryPath::toolkit;
  settings.compiler_paths = true;
  settings.has_cccl_include = true;
  const core::ActiveToolkit toolkit{"13.0.1", "/r/versions/13.0.1", true};
  EXPECT_EQ(lines_of(core::plan_environment(core::unknown_environment(), toolkit, {"/r"}, settings)),
            "setenv CUDA_HOME \"/r/versions/13.0.1\"\n"
            "setenv CUDA_PATH \"/r/versions/13.0.1\"\n"
            "setenv CUDAToolkit_ROOT \"/r/versions/13.0.1\"\n"
            "setenv CUDACXX \"/r/versions/13.0.1/bin/nvcc\"\n"
            "prepend-path PATH \"/r/versions/13.0.1/bin\"\n"
            "prepend-path LD_LIBRARY_PATH \"/r/versions/13.0.1/lib\"\n"
            "prepend-path CPATH \"/r/versions/13.0.1/include/cccl\"\n"
            "prepend-path CPATH \"/r/versions/13.0.1/include\"\n"
            "prepend-path LIBRARY_PATH \"/r/versions/13.0.1/lib\"\n"
            "append-path LIBRARY_PATH \"/r/versions/13.0.1/lib/stubs\"\n");
}

TEST(Modulefile, quotes_whatever_tcl_would_read) {
  EXPECT_EQ(lines_of({{{"A", "a b\"c$d[e]f{g}h\\i;#'"}}}), "setenv A \"a b\\\"c\\$d\\[e\\]f\\{g\\}h\\\\i;#'\"\n");
  EXPECT_EQ(lines_of({{{"A", "\n1\x7f\x1b\xc3\xa9"}}}), "setenv A \"\\0121\\177\\033\xc3\xa9\"\n");
}

TEST(Modulefile, leaves_out_what_is_unset_and_the_sign_that_cudaenv_did_it) {
  EXPECT_EQ(lines_of({{{"CUDA_HOME", std::nullopt}, {"CUDAENV_ACTIVE", "12.8.1"}}}), "");
}

}  // namespace
}  // namespace cudaenv::shell
