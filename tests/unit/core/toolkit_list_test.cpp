// SPDX-License-Identifier: Apache-2.0
#include "core/toolkit_list.hpp"

#include <string>

#include <gtest/gtest.h>

namespace cudaenv::core {
namespace {

std::string text_of(const ToolkitList& list) {
  FixedText<4096> text;
  list.append_to(text);
  return std::string(text.view());
}

TEST(ToolkitList, VER_09_sorts_releases_as_numbers_after_names) {
  ToolkitList list;
  for (const char* name : {"12.10.0", "site", "9.2.0", "12.9.0", "mine"}) list.add(name);
  EXPECT_EQ(text_of(list), "mine, site, 9.2.0, 12.9.0, 12.10.0");
  EXPECT_EQ(list.last(), "12.10.0");
}

TEST(ToolkitList, keeps_each_once) {
  ToolkitList list;
  for (const char* name : {"12.4.1", "11.8.0", "12.4.1", "11.8.0"}) list.add(name);
  EXPECT_EQ(text_of(list), "11.8.0, 12.4.1");
}

TEST(ToolkitList, drops_the_oldest_beyond_its_size) {
  ToolkitList list;
  for (std::size_t i = ToolkitList::k_most + 2; i-- > 0;) list.add("12." + std::to_string(i) + ".0");
  EXPECT_TRUE(text_of(list).starts_with("..., 12.2.0, 12.3.0, ")) << text_of(list);
  EXPECT_EQ(list.last(), "12." + std::to_string(ToolkitList::k_most + 1) + ".0");
  list.add("13.0.0");
  EXPECT_TRUE(text_of(list).starts_with("..., 12.3.0, ")) << text_of(list);
  EXPECT_EQ(list.last(), "13.0.0");
}

TEST(ToolkitList, starts_empty) { EXPECT_TRUE(ToolkitList().is_empty()); }

}  // namespace
}  // namespace cudaenv::core
