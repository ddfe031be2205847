// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

namespace cudaenv::test {

// Names a row of a table by its member `name`; for the last argument of INSTANTIATE_TEST_SUITE_P.
struct RowName {
  template <class Row>
  std::string operator()(const testing::TestParamInfo<Row>& info) const {
    return info.param.name;
  }
};

}  // namespace cudaenv::test
