// SPDX-License-Identifier: Apache-2.0
#include "core/visible_devices.hpp"

#include <gtest/gtest.h>

#include "unit/core/named_rows.hpp"

namespace cudaenv::core {
namespace {

std::vector<Gpu> three_gpus() {
  std::vector<Gpu> gpus(3);
  gpus[0].uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
  gpus[1].uuid = "GPU-8aaaaaaa-d72c-4106-c12f-20bd9faed9f6";
  gpus[2].uuid = "GPU-c0ffee00-d72c-4106-c12f-20bd9faed9f6";
  gpus[1].mig_uuids = {"MIG-11111111-aaaa-5000-8000-000000000000", "MIG-12222222-aaaa-5000-8000-000000000000"};
  gpus[2].mig_uuids = {"MIG-33333333-aaaa-5000-8000-000000000000", "MIG-GPU-c0ffee00-d72c-4106-c12f-20bd9faed9f6/7/0"};
  return gpus;
}

struct List {
  const char* name;
  const char* value;
  std::vector<std::size_t> positions;
  const char* bad_entry = nullptr;  // null: read to its end
};

class VisibleDevicesList : public testing::TestWithParam<List> {};

TEST_P(VisibleDevicesList, selects) {
  const VisibleDevices visible = visible_devices(GetParam().value, three_gpus());
  EXPECT_EQ(visible.positions, GetParam().positions);
  EXPECT_EQ(visible.is_cut, GetParam().bad_entry != nullptr);
  EXPECT_EQ(visible.bad_entry, GetParam().bad_entry ? GetParam().bad_entry : "");
}

INSTANTIATE_TEST_SUITE_P(
    Values, VisibleDevicesList,
    testing::Values(
        List{"empty", "", {}}, List{"blanks", "  ", {}}, List{"minus_one", "-1", {}, "-1"}, List{"one", "1", {1}},
        List{"several", "2,0", {2, 0}}, List{"with_blanks", " 2 , 0 ", {2, 0}}, List{"twice", "1,1", {1}},
        List{"leading_zero", "01", {1}}, List{"DRV_06_ends_at_minus_one", "2,-1,0", {2}, "-1"},
        List{"ends_at_an_index_too_large", "0,3,1", {0}, "3"},
        List{"ends_at_a_huge_index", "99999999999999999999999", {}, "99999999999999999999999"},
        List{"ends_at_a_word", "0,all", {0}, "all"}, List{"ends_at_a_trailing_comma", "0,", {0}, ""},
        List{"ends_at_a_sign", "+1", {}, "+1"}, List{"ends_at_a_container_form", "1:0", {}, "1:0"},
        List{"uuid", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", {0}}, List{"uuid_beginning", "GPU-8a", {1}},
        List{"several_uuids", "GPU-c,GPU-89", {2, 0}}, List{"ambiguous_uuid_beginning", "GPU-8", {}, "GPU-8"},
        List{"unknown_uuid", "GPU-c,GPU-f", {2}, "GPU-f"}, List{"uuid_without_its_prefix", "8932f937", {}, "8932f937"},
        List{"MIG_instance", "MIG-12222222-aaaa-5000-8000-000000000000", {1}}, List{"MIG_beginning", "MIG-3", {2}},
        List{"MIG_ambiguous_beginning", "MIG-1", {}, "MIG-1"}, List{"MIG_unknown", "MIG-9", {}, "MIG-9"},
        List{"MIG_two_instances_of_one_gpu", "MIG-11,MIG-12", {1}},
        List{"MIG_old_form_listed", "MIG-GPU-c0ffee00-d72c-4106-c12f-20bd9faed9f6/7/0", {2}},
        List{"MIG_old_form_by_its_gpu", "MIG-GPU-8aaaaaaa-d72c-4106-c12f-20bd9faed9f6/1/0", {1}},
        List{"MIG_old_form_of_no_gpu", "MIG-GPU-ffffffff-d72c/1/0", {}, "MIG-GPU-ffffffff-d72c/1/0"},
        List{"mixed", "0,GPU-c", {0, 2}}),
    test::RowName());

TEST(VisibleDevicesOfNone, are_none) {
  EXPECT_TRUE(visible_devices("0", {}).positions.empty());
  EXPECT_TRUE(visible_devices("GPU-", {}).positions.empty());
}

TEST(VisibleDevicesOfUnknownUuid, are_selected_by_index_alone) {
  const std::vector<Gpu> gpus(1);
  EXPECT_EQ(visible_devices("0", gpus).positions.size(), 1U);
  EXPECT_TRUE(visible_devices("GPU-8", gpus).positions.empty());
}

TEST(CountsDevices, if_the_first_entry_is_an_index) {
  EXPECT_TRUE(counts_devices("0"));
  EXPECT_TRUE(counts_devices(" 1,GPU-8"));
  EXPECT_FALSE(counts_devices(""));
  EXPECT_FALSE(counts_devices("-1"));
  EXPECT_FALSE(counts_devices("GPU-8,1"));
}

}  // namespace
}  // namespace cudaenv::core
