// SPDX-License-Identifier: Apache-2.0
#include "base/exit_code.hpp"

#include "unit/core/named_rows.hpp"

namespace cudaenv {
namespace {

struct Row {
  const char* name;
  ErrorKind kind;
  int code;
};

class ExitCodeOf : public testing::TestWithParam<Row> {};

// The numbers are a promise to scripts.
TEST_P(ExitCodeOf, is_the_promised_number) {
  EXPECT_EQ(static_cast<int>(exit_code_of(GetParam().kind)), GetParam().code);
}

constexpr Row k_rows[] = {
    {"usage", ErrorKind::usage, 2},
    {"config", ErrorKind::config, 2},
    {"not_found", ErrorKind::not_found, 3},
    {"not_installed", ErrorKind::not_installed, 4},
    {"incompatible", ErrorKind::incompatible, 5},
    {"network", ErrorKind::network, 6},
    {"integrity", ErrorKind::integrity, 7},
    {"filesystem", ErrorKind::filesystem, 8},
    {"locked", ErrorKind::locked, 8},
    {"untrusted", ErrorKind::untrusted, 7},
    {"execution", ErrorKind::execution, 126},
    {"no_command", ErrorKind::no_command, 127},
    {"interrupted", ErrorKind::interrupted, 130},
    {"internal", ErrorKind::internal, 1},
};

INSTANTIATE_TEST_SUITE_P(Rows, ExitCodeOf, testing::ValuesIn(k_rows), test::RowName());

}  // namespace
}  // namespace cudaenv
