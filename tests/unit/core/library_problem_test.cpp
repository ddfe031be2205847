// SPDX-License-Identifier: Apache-2.0
#include "core/library_problem.hpp"

#include <gtest/gtest.h>

namespace cudaenv::core {
namespace {

TEST(LibraryName, has_a_stem_and_a_major) {
  EXPECT_EQ(library_stem("libcudart.so.11.0"), "libcudart");
  EXPECT_EQ(library_major("libcudart.so.11.0"), "11");
  EXPECT_EQ(library_major("libcudart.so.13"), "13");
  EXPECT_EQ(library_major("libcudart.so"), "");
  EXPECT_EQ(library_stem("odd"), "odd");
  EXPECT_EQ(library_major("odd"), "");
}

TEST(LibraryName, of_a_version_is_nothing_but_numbers_behind_it) {
  for (const std::string_view name : {"libcudart.so.13", "libcudart.so.11.0", "libcudart.so.12.8.90"})
    EXPECT_TRUE(is_versioned_library(name, "libcudart")) << name;
  for (const std::string_view name : {"libcudart.so", "libcudart.so.", "libcudart.so.13.bak", "libcudart_static.a",
                                      "libcudart.so.x", "libcudadevrt.so.13", ""})
    EXPECT_FALSE(is_versioned_library(name, "libcudart")) << name;
}

Selection selected(std::string_view name) {
  Selection selection;
  selection.status = SelectionStatus::selected;
  selection.origin = {OriginKind::project_file, "/p/.cuda-version", 1};
  selection.name = name;
  return selection;
}

TEST(MissingLibrary, names_what_the_toolkit_has_instead_and_who_has_it) {
  ToolkitList having;
  having.add("13.5.0");
  ProblemText text;
  describe_missing_library(selected("12.4.1"), "libcudart.so.13", "libcudart.so.12", having, text);
  EXPECT_EQ(text.message.view(),
            "this program needs libcudart.so.13, but CUDA 12.4.1 (set by /p/.cuda-version:1) provides libcudart.so.12");
  EXPECT_EQ(text.detail.view(), "installed toolkits that have it: 13.5.0");
  EXPECT_EQ(text.hint.view(), "cudaenv exec -v 13.5.0 -- PROGRAM");
}

TEST(MissingLibrary, says_what_to_install_where_nobody_has_it) {
  ProblemText text;
  describe_missing_library(selected("mine"), "libcudart.so.11.0", "", {}, text);
  EXPECT_EQ(text.message.view(),
            "this program needs libcudart.so.11.0, but toolkit mine (set by /p/.cuda-version:1) has no such library");
  EXPECT_EQ(text.detail.view(), "");
  EXPECT_EQ(text.hint.view(), "cudaenv install 11");
}

TEST(MissingLibrary, number_of_another_library_is_none_of_a_release) {
  ProblemText text;
  describe_missing_library(selected("13.5.0"), "libcufft.so.11", "libcufft.so.12", {}, text);
  EXPECT_EQ(text.hint.view(), "");
}

TEST(MissingLibrary, of_a_toolkit_that_the_process_has_a_library_of) {
  Selection selection = selected("13.5.0");
  selection.origin = {OriginKind::process};
  ProblemText text;
  describe_missing_library(selection, "libcufft.so.12", "", {}, text);
  EXPECT_EQ(text.message.view(),
            "this program needs libcufft.so.12, but CUDA 13.5.0 (which this process has libraries of already) "
            "has no such library");
}

TEST(MissingLibrary, of_the_system) {
  ProblemText text;
  describe_missing_library({}, "libcudart.so.13", "", {}, text);
  EXPECT_EQ(text.message.view(),
            "this program needs libcudart.so.13, which the system does not have (nothing selects a toolkit here)");
}

TEST(RefusedToolkit, is_told_with_the_reason) {
  ProblemText text;
  describe_refused_toolkit(selected("13.9.0"), "the driver is too old", text);
  EXPECT_EQ(text.message.view(), "CUDA 13.9.0 is refused on this machine (set by /p/.cuda-version:1)");
  EXPECT_EQ(text.detail.view(), "the driver is too old");
  EXPECT_EQ(text.hint.view(), "cudaenv check 13.9.0");
}

}  // namespace
}  // namespace cudaenv::core
