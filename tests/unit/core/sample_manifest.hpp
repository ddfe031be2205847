// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "core/manifest.hpp"

namespace cudaenv::test {

// The text of tests/data/manifests/redistrib_<release>.json: our own small manifests, one for each form.
inline std::string sample_text(std::string_view release) {
  std::ostringstream text;
  text << std::ifstream(
              std::string(CUDAENV_SOURCE_DIR "/tests/data/manifests/redistrib_") + std::string(release) + ".json",
              std::ios::binary)
              .rdbuf();
  return text.str();
}

inline core::Manifest sample_manifest(std::string_view release) {
  const auto document = base::parse_json(sample_text(release));
  if (!document) {
    ADD_FAILURE() << release << ": " << document.error().message;
    return {};
  }
  auto manifest = core::parse_manifest(*document);
  EXPECT_TRUE(manifest) << release << ": " << manifest.error().message;
  return manifest ? *manifest : core::Manifest();
}

}  // namespace cudaenv::test
