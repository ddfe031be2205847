// SPDX-License-Identifier: Apache-2.0
#include "shell/hook.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace cudaenv::shell {
namespace {

constexpr Shell k_shells[] = {Shell::bash, Shell::zsh, Shell::fish};

TEST(RenderHook, has_every_place_as_one_word_and_no_placeholder) {
  const HookPlaces places{"/it's/cudaenv", "/it's/cudaenv-hook", "/a b/shims", {"/a b/version", "/opt/$x/version"}};
  for (const Shell shell : k_shells) {
    const std::string text = render_hook(shell, places);
    for (const std::string& place :
         {places.program, places.hook_program, places.shims, places.global_files[0], places.global_files[1]})
      EXPECT_NE(text.find(quote(shell, place)), std::string::npos) << place;
    for (const char* name : {"@PROGRAM@", "@HOOK_PROGRAM@", "@SHIMS@", "@GLOBALS@", "@COMPLETION@"})
      EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

TEST(RenderHook, comments_are_for_readers_of_the_template) {
  for (const Shell shell : k_shells) {
    const std::string text = render_hook(shell, {"/p", "/h", "/s", {"/g"}});
    for (const std::string_view line : base::split(text, '\n')) {
      const std::size_t start = line.find_first_not_of(' ');
      EXPECT_FALSE(start != std::string_view::npos && line[start] == '#') << line;
    }
  }
}

// "${x:+\}}": bash before 4.2 keeps the backslash.
TEST(RenderHook, no_brace_is_escaped_in_an_old_bash) {
  EXPECT_EQ(hook_template(Shell::bash).find("\\}"), std::string_view::npos);
}

TEST(RenderHook, a_place_with_line_ends_stays_whole) {
  const HookPlaces places{"/a\n# b\n/cudaenv", "/h", "/s", {"/g"}};
  for (const Shell shell : k_shells)
    EXPECT_NE(render_hook(shell, places).find(quote(shell, places.program)), std::string::npos);
}

TEST(RenderChange, names_builtins_as_such_and_hides_what_is_not_exported) {
  base::Environment exported;
  exported.set("PATH", "/bin");
  const core::EnvPlan plan{
      {{"CUDA_HOME", "/it's"}, {"PATH", "/x:/bin"}, {"CPATH", std::nullopt}, {"CUDAENV_ACTIVE", "12.8.1"}}};
  const std::string expected =
      "__cudaenv_hide CUDA_HOME;\n\\builtin export CUDA_HOME='/it'\\''s';\n\\builtin export PATH='/x:/bin';\n"
      "__cudaenv_unset CPATH;\n\\builtin export CUDAENV_ACTIVE='12.8.1';\n";
  EXPECT_EQ(render_change(Shell::bash, plan, exported), expected);
  EXPECT_EQ(render_change(Shell::zsh, plan, exported), expected);
  EXPECT_EQ(render_change(Shell::fish, plan, exported),
            "__cudaenv_hide CUDA_HOME;\nset -gx CUDA_HOME '/it\\'s';\nset -gx PATH '/x' '/bin';\n"
            "__cudaenv_unset CPATH;\nset -gx CUDAENV_ACTIVE '12.8.1';\n");
}

}  // namespace
}  // namespace cudaenv::shell
