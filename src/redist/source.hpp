// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/manifest.hpp"
#include "core/product.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"
#include "redist/location.hpp"
#include "redist/transport.hpp"

namespace cudaenv::redist {

struct SourceOptions {
  PlainHttp plain_http = PlainHttp::on_loopback;
  std::chrono::seconds idle_timeout{30};  // how long a server may send nothing
  int retries = 6;                        // of a request, after failures that may pass
};

// A base that releases come from, ready to be asked.
struct Source {
  Location location;
  std::unique_ptr<Transport> transport;
  SourceOptions options = {};  // that it was opened with
};

[[nodiscard]] Result<Source> open_source(std::string_view text, const SourceOptions& options,
                                         const base::Path& working_directory);

// The same bases once more, for whoever needs some of its own.
[[nodiscard]] std::vector<Source> opened_again(const std::vector<Source>& sources);

// Where the base has a product's manifests and archives.
[[nodiscard]] Source product_source(const Source& base, const core::ProductRow& product);

struct Published {
  std::vector<core::Version> releases;  // ascending
  bool is_from_registry = false;        // the base has no index page: what the registry knows was taken for it
};

// The releases that a base publishes, as its index page (or the directory) lists their manifests.
[[nodiscard]] Result<Published> published_releases(const Source& source, const core::Registry& registry);

struct PublishedProduct {
  std::vector<core::ProductVersion> versions;
  bool is_from_registry = false;
};

// The versions of a product, alike.
[[nodiscard]] Result<PublishedProduct> published_versions(const Source& source, const core::ProductRow& product,
                                                          const core::Registry& registry);

// Digest of a manifest to accept although the registry knows another one: 64 hex digits, or "any", or nothing.
struct AcceptedManifest {
  std::string digest;
};

// A manifest, by what is known of it before it is fetched.
struct WantedManifest {
  std::string product;       // "CUDA", "cudnn": as it is called in messages
  std::string version;       // as written in its name
  std::string label;         // what it should call its product; empty: whatever it likes
  std::string known_sha256;  // by the registry; empty: it knows none
  std::string command;       // to type with --accept-manifest
};

struct FetchedManifest {
  core::Manifest manifest;
  std::string sha256;
  std::string text;     // as it came, which the digest is of
  std::string warning;  // one line, or nothing
};

// Fetches, checks and parses a manifest. If the registry knows another digest for it: from NVIDIA's own
// base a warning (it has issued manifests anew before); from any other it is fetched once more and then refused
// (ErrorKind::untrusted, both digests named), unless that digest is accepted. ErrorKind::integrity if it is no
// manifest.
[[nodiscard]] Result<FetchedManifest> fetch_manifest(const Source& source, const WantedManifest& wanted,
                                                     const AcceptedManifest& accepted);
// That of a release of the toolkit.
[[nodiscard]] Result<FetchedManifest> fetch_manifest(const Source& source, const core::Version& release,
                                                     const core::Registry& registry, const AcceptedManifest& accepted);

// Whether the base has this very manifest, as far as can be told.
[[nodiscard]] bool has_manifest(const Source& source, std::string_view version, std::string_view sha256);
[[nodiscard]] bool has_manifest(const Source& source, const core::Version& release, std::string_view sha256);

}  // namespace cudaenv::redist
