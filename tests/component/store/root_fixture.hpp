// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include "component/redist/scratch.hpp"
#include "store/roots.hpp"

namespace cudaenv::test {

// Two roots in a directory of the test's own.
class TwoRoots : public testing::Test {
 protected:
  // A toolkit as an install leaves it, with an executable nvcc.
  base::Path add_toolkit(const store::Root& root, std::string_view name) const {
    const base::Path directory = root.toolkit(name);
    EXPECT_TRUE(base::make_directories(directory / "bin"));
    EXPECT_TRUE(base::write_file(directory / "receipt.json", "{}"));
    EXPECT_TRUE(base::write_file(directory / "bin/nvcc", "", 0755));
    return directory;
  }
  // A directory of NVIDIA's own installer, registered under a name.
  base::Path adopt(const store::Root& root, std::string_view directory, std::string_view name) const {
    const base::Path real = m_scratch.directory(directory);
    EXPECT_TRUE(base::make_directories(real / "bin"));
    EXPECT_TRUE(base::write_file(real / "bin/nvcc", "", 0755));
    EXPECT_TRUE(base::make_directories(root.versions()));
    EXPECT_TRUE(base::make_link(real, root.toolkit(name)));
    return real;
  }

  Scratch m_scratch;
  store::Roots m_roots{store::Root{m_scratch / "own"}, store::Root{m_scratch / "shared"}};
};

}  // namespace cudaenv::test
