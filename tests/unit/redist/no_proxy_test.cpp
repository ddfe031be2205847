// SPDX-License-Identifier: Apache-2.0
#include "redist/no_proxy.hpp"

#include <gtest/gtest.h>

namespace cudaenv::redist {
namespace {

TEST(NoProxy, DL_09_names_a_host_with_its_port) {
  EXPECT_TRUE(names_host_and_port("mirror.example:8443", "mirror.example", "8443"));
  EXPECT_TRUE(names_host_and_port("a, Mirror.EXAMPLE:8443 ,b", "mirror.example", "8443"));
  EXPECT_TRUE(names_host_and_port(".example:8443", "mirror.example", "8443"));
  EXPECT_TRUE(names_host_and_port("example:8443", "mirror.example", "8443"));
  EXPECT_FALSE(names_host_and_port("mirror.example:8443", "mirror.example", "443"));
  EXPECT_FALSE(names_host_and_port("ample:8443", "mirror.example", "8443"));
  EXPECT_FALSE(names_host_and_port(":8443", "mirror.example", "8443"));
  EXPECT_FALSE(names_host_and_port("mirror.example", "mirror.example", "8443")) << "libcurl's own";
  EXPECT_FALSE(names_host_and_port("", "mirror.example", "8443"));
  EXPECT_FALSE(names_host_and_port(",, ,", "mirror.example", "8443"));
}

}  // namespace
}  // namespace cudaenv::redist
