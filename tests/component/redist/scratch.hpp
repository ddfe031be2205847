// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace cudaenv::test {

// A directory of the test's own, gone with it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cudaenv-test-XXXXXX").native();
    if (::mkdtemp(pattern.data())) m_path = pattern;
    EXPECT_FALSE(m_path.empty());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { EXPECT_TRUE(base::remove_tree(m_path)); }

  base::Path operator/(std::string_view name) const { return m_path / name; }
  const base::Path& path() const { return m_path; }

  base::Path directory(std::string_view name) const {
    EXPECT_TRUE(base::make_directories(m_path / name));
    return m_path / name;
  }
  base::Path file(std::string_view name, std::string_view content) const {
    std::ofstream(m_path / name, std::ios::binary) << content;
    return m_path / name;
  }

 private:
  base::Path m_path;
};

inline std::string content_of(const base::Path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

// All that an Error tells a person.
inline std::string told(const Error& error) {
  std::string text = error.message + "\n";
  for (const std::string& detail : error.details) text += detail + "\n";
  return text + error.hint;
}

}  // namespace cudaenv::test
