// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::redist {

inline constexpr std::string_view k_nvidia_base = "https://developer.download.nvidia.com/compute/cuda/redist/";
inline constexpr std::string_view k_nvidia_products = "https://developer.download.nvidia.com/compute/";

enum class PlainHttp { on_loopback, everywhere };

// A base that serves manifests and archives: a web address, or a directory of this machine.
struct Location {
  std::string url;       // with a slash at its end; empty for a directory; may carry credentials
  base::Path directory;  // absolute; empty for a web address
  PlainHttp plain_http = PlainHttp::on_loopback;

  bool is_directory() const { return url.empty(); }
  bool is_nvidia() const { return url.starts_with(k_nvidia_products); }

  // Where another product than the toolkit lies: beside a base that is laid out as NVIDIA's is (.../cuda/redist/), and
  // below any other, so that one directory can hold them all: DIR/<folder>/redist.
  Location product(std::string_view folder) const;

  // For a person, the base itself or something below it: never shows credentials.
  std::string shown(std::string_view relative = {}) const;
  // The address or path of something below; `relative` has been checked (is_plain_relative_path), or is empty.
  std::string resource(std::string_view relative) const;
};

// Understands https://..., http://... (on loopback, or where `plain_http` allows it), file://... and paths,
// relative ones against `working_directory`. ErrorKind::config for anything else.
[[nodiscard]] Result<Location> parse_location(std::string_view text, PlainHttp plain_http,
                                              const base::Path& working_directory);

// Whether a server at `from` may send us on to `to`: from https only to https, to plain http only where
// `plain_http` allows it, never to another scheme. ErrorKind::network, telling no more of `to` than its host.
[[nodiscard]] Result<void> check_redirect(std::string_view from, std::string_view to, PlainHttp plain_http);

// "%2B" as "+"; nothing if a percent sign does not begin two hex digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace cudaenv::redist
