// SPDX-License-Identifier: Apache-2.0
#include "shell/render.hpp"

#include <gtest/gtest.h>

namespace cudaenv::shell {
namespace {

const core::EnvPlan k_plan{{{"CUDA_HOME", "/it's"}, {"PATH", "/a b:/bin"}, {"CPATH", std::nullopt}, {"EMPTY", ""}}};

TEST(Render, bash_and_zsh) {
  const std::string expected =
      "export CUDA_HOME='/it'\\''s';\nexport PATH='/a b:/bin';\nunset CPATH;\nexport EMPTY='';\n";
  EXPECT_EQ(render(Shell::bash, k_plan), expected);
  EXPECT_EQ(render(Shell::zsh, k_plan), expected);
}

TEST(Render, fish_gets_path_as_a_list) {
  EXPECT_EQ(render(Shell::fish, k_plan),
            "set -gx CUDA_HOME '/it\\'s';\nset -gx PATH '/a b' '/bin';\nset -e CPATH;\nset -gx EMPTY '';\n");
}

TEST(Render, nothing_to_do_is_nothing_to_evaluate) {
  EXPECT_EQ(render(Shell::bash, {}), "");
  EXPECT_EQ(render(Shell::fish, {}), "");
  EXPECT_EQ(render_dotenv({}), "");
}

TEST(RenderDotenv, has_only_what_is_set_and_quotes_where_it_must) {
  EXPECT_EQ(render_dotenv(k_plan), "CUDA_HOME='/it'\\''s'\nPATH='/a b:/bin'\nEMPTY=\n");
}

TEST(RenderGithub, has_all_but_path_and_empties_what_cannot_be_unset) {
  EXPECT_EQ(render_github(k_plan), "CUDA_HOME=/it's\nCPATH=\nEMPTY=\n");
  EXPECT_EQ(render_github({}), "");
}

TEST(RenderGithub, frames_several_lines_by_one_that_is_not_among_them) {
  EXPECT_EQ(render_github({{{"A", "/a\n/b"}}}), "A<<CUDAENV_END\n/a\n/b\nCUDAENV_END\n");
  EXPECT_EQ(render_github({{{"A", "\nCUDAENV_END\n"}}}), "A<<CUDAENV_END_\n\nCUDAENV_END\n\nCUDAENV_END_\n");
}

}  // namespace
}  // namespace cudaenv::shell
