// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <gtest/gtest.h>

namespace cudaenv::base {
namespace {

using Texts = std::vector<std::string>;

TEST(Environment, unset_empty_and_set_are_three_things) {
  const Environment environment({{"EMPTY", ""}, {"SET", "x"}});
  EXPECT_EQ(environment.get("UNSET"), std::nullopt);
  EXPECT_EQ(environment.get("EMPTY"), "");
  EXPECT_EQ(environment.get("SET"), "x");
  EXPECT_EQ(environment.value("UNSET"), "");
  EXPECT_EQ(environment.value("EMPTY"), "");
}

TEST(Environment, name_is_matched_whole) {
  Environment environment;
  environment.set("CUDA_PATH_V12", "x");
  EXPECT_EQ(environment.get("CUDA_PATH"), std::nullopt);
}

TEST(Environment, set_changes_in_place_or_adds_at_the_end) {
  Environment environment({{"A", "1"}, {"B", "2"}});
  environment.set("A", "3");
  environment.set("C", "");
  EXPECT_EQ(environment.strings(), (Texts{"A=3", "B=2", "C="}));
}

TEST(Environment, unset_removes_every_occurrence) {
  Environment environment({{"A", "1"}, {"B", "2"}, {"A", "3"}});
  environment.unset("A");
  environment.unset("A");
  EXPECT_EQ(environment.strings(), Texts{"B=2"});
}

TEST(Environment, value_may_hold_equal_signs_and_line_ends) {
  Environment environment;
  environment.set("A", "b=c\nd");
  EXPECT_EQ(environment.strings(), Texts{"A=b=c\nd"});
}

}  // namespace
}  // namespace cudaenv::base
