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

std::string to_text(const Minor& minor) { return fmt::format("{}.{}", minor.major, minor.minor); }

std::string to_text(const ComputeCapability& capability) {
  return fmt::format("{}.{}", capability.major, capability.minor);
}

std::string driver_text(const DottedVersion& version) {
  std::string text;
  for (std::size_t i = 0; i < version.count; ++i)
    text += i == 0 ? fmt::format("{}", version[i]) : fmt::format(".{:02}", version[i]);
  return text;
}

}  // namespace cudaenv::core
