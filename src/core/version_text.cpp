// SPDX-License-Identifier: Apache-2.0
#include "core/version_text.hpp"

#include <fmt/format.h>

namespace cudaenv::core {

std::string to_text(const Version& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::string to_text(const DottedVersion& version) {
  return fmt::format("{}", fmt::join(version.part.begin(), version.part.begin() + version.count, "."));
}

}  // namespace cudaenv::core
