// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

inline constexpr std::uint64_t k_largest_archive = 64'000'000'000;  // bytes; the largest published one has 1.5e9

struct Archive {
  std::string relative_path;  // below the folder of the manifest; checked to stay there
  std::string sha256;         // 64 lower-case hex digits
  std::uint64_t size = 0;     // bytes
};

// One archive (flat form, variant "") or one for each CUDA variant (nested form, "cuda12", "cuda13.3").
struct PlatformArchives {
  std::string platform;
  std::vector<std::pair<std::string, Archive>> by_variant;
};

struct Component {
  std::string name;        // cuda_nvcc
  std::string human_name;  // CUDA NVCC
  std::string license;
  std::string license_path;
  std::string version;  // the component's own: 12.4.131
  std::vector<PlatformArchives> platforms;

  const PlatformArchives* archives_for(std::string_view platform) const;
};

// NVIDIA's list of the archives of one release of one product, redistrib_<version>.json.
struct Manifest {
  std::string release_date;
  std::string release_label;          // empty in old ones
  std::string release_product;        // empty in old ones
  std::vector<Component> components;  // sorted by name

  const Component* find(std::string_view name) const;
};

// "redistrib_12.8.1.json"
std::string manifest_name(const Version& release);

std::string manifest_name(std::string_view version);

// What stands for the version in the name of a manifest; nothing for any other file name.
std::optional<std::string_view> version_text_of_manifest_name(std::string_view name);

// The release that the name of a manifest stands for; nothing for any other file name.
std::optional<Version> release_of_manifest_name(std::string_view name);

// Whether `text` names something below a folder and nothing else: relative, no "." or ".." part, no back-slash,
// scheme or control byte.
bool is_plain_relative_path(std::string_view text);

// 64 lower-case hex digits.
bool is_sha256(std::string_view text);

// Whether a directory of ours may have the name: that of a component or a platform.
bool is_component_name(std::string_view name);

// Reads a manifest. Unknown members are skipped. ErrorKind::integrity, naming component and platform, for what
// cannot be trusted: a path that leaves the folder, a digest or size that is missing or malformed.
[[nodiscard]] Result<Manifest> parse_manifest(const base::Value& document);

// ErrorKind::integrity if the manifest says that it is that of another version of `product` ("CUDA", "cudnn").
[[nodiscard]] Result<void> check_label(const Manifest& manifest, std::string_view product, std::string_view version);

}  // namespace cudaenv::core
