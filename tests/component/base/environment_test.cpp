// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cudaenv::base {
namespace {

// What execve lets a caller pass: no "=", no name, a name twice.
TEST(Environment, of_process_takes_the_first_of_a_name_and_skips_what_is_no_variable) {
  char* strange[] = {const_cast<char*>("nothing"), const_cast<char*>("=x"), const_cast<char*>("A=1"),
                     const_cast<char*>("A=2"),     const_cast<char*>("E="), nullptr};
  char** const real = std::exchange(environ, strange);
  const Environment environment = Environment::of_process();
  environ = nullptr;
  const Environment none = Environment::of_process();
  environ = real;
  EXPECT_EQ(environment.strings(), (std::vector<std::string>{"A=1", "E="}));
  EXPECT_TRUE(none.variables().empty());
}

}  // namespace
}  // namespace cudaenv::base
