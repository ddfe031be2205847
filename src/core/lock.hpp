// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"
#include "core/component_plan.hpp"
#include "core/manifest.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_lock_name = "cuda.lock";
inline constexpr std::size_t k_largest_lock = std::size_t{4} << 20;  // bytes; a release for all platforms has 60 kB

struct LockedArchive {
  std::string name;     // of the component
  std::string version;  // the component's own
  Archive archive;
};

struct LockedPlatform {
  std::string name;
  std::vector<LockedArchive> archives;  // sorted by name
};

// One of NVIDIA's other redistributables that goes into the toolkit.
struct LockedProduct {
  std::string name;
  std::string version;
  std::string manifest_sha256;
  std::vector<LockedPlatform> platforms;  // sorted by name

  const LockedPlatform* find(std::string_view platform) const;
};

// What a project's toolkit is made of, bit for bit: the content of a cuda.lock.
struct Lock {
  Version release;
  ComponentChoice choice;  // `with` and `without` sorted
  std::string manifest_sha256;
  std::vector<LockedPlatform> platforms;  // sorted by name
  std::vector<LockedProduct> products;    // sorted by name

  const LockedPlatform* find(std::string_view platform) const;
  const LockedProduct* find_product(std::string_view product) const;
  std::string platform_names() const;  // with commas between
};

// What a plan has for a platform.
LockedPlatform locked_platform(std::string_view platform, const ComponentPlan& plan);

// The same lock gives the same text: sorted, an archive a line.
std::string to_text(const Lock& lock);

// ErrorKind::config, naming what, for anything that cannot be obeyed to the letter: another format, an unknown or
// missing member, a name twice, a path that leaves the mirror, a malformed digest.
[[nodiscard]] Result<Lock> parse_lock(const base::Value& document);

// What has changed, one line each: "cuda_nvcc 12.8.61 -> 12.8.93 (linux-x86_64)". Empty if nothing has.
std::vector<std::string> differences(const Lock& before, const Lock& after);

// What departs from the lock on a platform, one line each: "cuda_nvcc is missing", "libcublas is not in the lock",
// "cuda_cudart: sha256 ..., in the lock ...". `found` is sorted by name.
std::vector<std::string> departures(const LockedPlatform& locked, const std::vector<LockedArchive>& found);

}  // namespace cudaenv::core
