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

}  // namespace
}  // namespace cudaenv::shell
