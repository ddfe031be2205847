// SPDX-License-Identifier: Apache-2.0
#include "core/gpu_names.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/version_text.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

struct NameRow {
  const char* name;
  const char* typed;
  const char* first;         // the first product that is meant; empty: none is
  const char* capabilities;  // all that those products have, by number
};

class GpusMeant : public testing::TestWithParam<NameRow> {};

std::string capabilities_of(const std::vector<const GpuRow*>& rows) {
  std::vector<ComputeCapability> all;
  for (const GpuRow* row : rows) all.push_back(row->capability);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string text;
  for (const ComputeCapability capability : all) text.append(text.empty() ? "" : " ").append(to_text(capability));
  return text;
}

TEST_P(GpusMeant, are_those_of_the_closest_reading) {
  const auto rows = gpus_meant(registry::builtin(), GetParam().typed);
  EXPECT_EQ(rows.empty() ? "" : rows.front()->name, GetParam().first);
  EXPECT_EQ(capabilities_of(rows), GetParam().capabilities);
}

const NameRow k_one[] = {
    {"whole_name", "GeForce RTX 4090", "GeForce RTX 4090", "8.9"},
    {"as_the_driver_writes_it", "NVIDIA GeForce RTX 4090", "GeForce RTX 4090", "8.9"},
    {"other_letters", "geforce rtx 4090", "GeForce RTX 4090", "8.9"},
    {"without_the_family", "RTX 4090", "GeForce RTX 4090", "8.9"},
    {"without_blanks", "rtx4090", "GeForce RTX 4090", "8.9"},
    {"with_dashes", "rtx-4090", "GeForce RTX 4090", "8.9"},
    {"with_underscores", "GeForce_RTX_4090", "GeForce RTX 4090", "8.9"},
    {"blanks_around", "  RTX   4090 ", "GeForce RTX 4090", "8.9"},
    {"number_alone", "4090", "GeForce RTX 4090", "8.9"},
    {"number_and_suffix", "1080 Ti", "GeForce GTX 1080 Ti", "6.1"},
    {"number_and_suffix_without_blanks", "1080ti", "GeForce GTX 1080 Ti", "6.1"},
    {"model_alone", "A6000", "RTX A6000", "8.6"},
    {"another_family", "Tesla A6000", "RTX A6000", "8.6"},
    {"many_boards_of_one_chip", "Tesla V100", "Tesla V100 DGXS 16GB", "7.0"},
    {"with_its_memory", "A100 80GB", "A100 80GB PCIe", "8.0"},
    {"with_a_memory_that_no_name_has", "RTX 4090 24GB", "GeForce RTX 4090", "8.9"},
    {"whole_name_before_its_start", "A10", "A10", "8.6"},  // not A100, which is 8.0
    {"short_whole_name", "L4", "L4", "8.9"},
    {"family_is_left_out_of_a_whole_name", "K80", "Tesla K80", "3.7"},
    {"words_in_any_place", "Orin AGX", "Jetson AGX Orin", "8.7"},
    {"words_between_are_left_out", "V100 32GB", "Tesla V100 DGXS 32GB", "7.0"},
};
INSTANTIATE_TEST_SUITE_P(One, GpusMeant, testing::ValuesIn(k_one), test::RowName());

const NameRow k_several[] = {
    {"generations_of_one_number", "RTX 6000", "Quadro RTX 6000", "7.5 8.9 12.0"},
    {"two_chips_under_one_name", "GeForce GT 1030", "GeForce GT 1030", "3.0 6.1"},
};
INSTANTIATE_TEST_SUITE_P(Several, GpusMeant, testing::ValuesIn(k_several), test::RowName());

const NameRow k_none[] = {
    {"empty", "", "", ""},
    {"blanks", " - _ ", "", ""},
    {"maker_alone", "NVIDIA", "", ""},
    {"family_alone", "GeForce", "", ""},
    {"maker_and_family", "NVIDIA Tesla", "", ""},
    {"of_another_make", "Radeon", "", ""},
    {"misspelt", "GeForce RTX 4O90", "", ""},
    {"number_that_none_has", "12345", "", ""},
    {"memory_alone_that_none_has", "7GB", "", ""},
};
INSTANTIATE_TEST_SUITE_P(None, GpusMeant, testing::ValuesIn(k_none), test::RowName());

TEST(GpusMeantOfAll, every_product_is_meant_by_its_own_name) {
  for (const GpuRow& product : registry::builtin().gpus) {
    const auto rows = gpus_meant(registry::builtin(), product.name);
    EXPECT_NE(std::find(rows.begin(), rows.end(), &product), rows.end()) << product.name;
  }
}

}  // namespace
}  // namespace cudaenv::core
