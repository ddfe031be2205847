// SPDX-License-Identifier: Apache-2.0
#include "core/file_choice.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/registry_lookup.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

using Words = std::vector<std::string>;

struct Row {
  const char* path;
  const char* group;  // that it belongs to; empty: none
};

constexpr Row k_rows[] = {
    {"lib/libcublas_static.a", "static"},
    {"lib/libcublasLt_static.a", "static"},
    {"lib/libnvrtc_static.alt.a", "static"},
    {"lib/libnvrtc-builtins_static.a", "static"},
    {"lib/libcufilt.a", "static"},
    {"targets/x86_64-linux/lib/libcufft_static.a", "static"},
    {"lib/libcudart_static.a", ""},
    {"lib/libcudadevrt.a", ""},
    {"lib/libculibos.a", ""},
    {"lib64/libculibos.a", ""},
    {"lib/libcublas.so.12", ""},
    {"lib/libcublas_static.a.txt", ""},
    {"lib/notlib.a", ""},
    {"lib/stubs/libcuda.so", ""},
    {"include/libcublas_static.ah", ""},
    {"bin/nvcc", ""},
    {"", ""},
    {"libx.a/", ""},
    {"samples/callback/Makefile", "samples"},
    {"extras/CUPTI/samples/autorange/main.cu", "samples"},
    {"nsight-compute/2025.1.1/extras/samples/sobelDoNothing/Makefile", "samples"},
    {"include/samples/x.h", ""},
    {"lib/samples", ""},
    {"samples", ""},
    {"samples/lib/libx.a", "static"},
};

TEST(FileChoice, each_file_is_left_out_by_its_group_alone) {
  for (const Row& row : k_rows) {
    for (const FileGroup& group : file_groups()) {
      if (row.path == std::string_view("samples/lib/libx.a") && group.word == "samples") continue;  // it is in both
      const Words words{std::string(group.word)};
      EXPECT_EQ(FileChoice(words).leaves_out(row.path), group.word == row.group) << row.path << " " << group.word;
    }
  }
}

TEST(FileChoice, several_words_among_components) {
  const FileChoice choice(Words{"cuda_nvcc", "samples", "libcublas", "static"});
  EXPECT_TRUE(choice.leaves_out_any());
  EXPECT_TRUE(choice.leaves_out("lib/libcublas_static.a"));
  EXPECT_TRUE(choice.leaves_out("samples/x"));
  EXPECT_FALSE(choice.leaves_out("lib/libcublas.so"));
}

TEST(FileChoice, without_words_all_stays) {
  for (const Words& words : {Words{}, Words{"libcublas"}, Words{"Static", "static ", ""}}) {
    EXPECT_FALSE(FileChoice(words).leaves_out_any());
    EXPECT_FALSE(FileChoice(words).leaves_out("lib/libcublas_static.a"));
  }
}

TEST(FileChoice, what_one_leaves_out_beyond_another) {
  const FileChoice none(Words{"cuda_nvcc"});
  const FileChoice one(Words{"static"});
  const FileChoice both(Words{"static", "samples"});
  EXPECT_EQ(both.beyond(none), (Words{"samples", "static"}));
  EXPECT_EQ(both.beyond(one), Words{"samples"});
  EXPECT_EQ(one.beyond(both), Words{});
  EXPECT_EQ(none.beyond(none), Words{});
}

TEST(FileChoice, no_component_has_the_name_of_a_group) {
  for (const FileGroup& group : file_groups())
    EXPECT_EQ(find_component(registry::builtin(), group.word), nullptr) << group.word;
}

}  // namespace
}  // namespace cudaenv::core
