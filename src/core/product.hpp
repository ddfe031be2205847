// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/dotted_version.hpp"
#include "core/manifest.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// A product as a person types it: cudnn, cudnn@9.14, cudnn@latest.
struct ProductSpec {
  std::string name;  // as typed
  DottedVersion version = {};
  bool is_latest = false;  // asked for by that word; else a spec without a version is content with any

  // Whether a published version may be what was asked for: as far as both go, their numbers are the same. People type
  // the library's own number too (cudnn 9.14.0.64), which only the manifest tells from the version's.
  bool may_match(const DottedVersion& published) const;
  // Whether it is, of a component's own number that begins with the version's.
  bool matches(const DottedVersion& published, const DottedVersion& own) const;
};

// ErrorKind::usage for anything else.
[[nodiscard]] Result<ProductSpec> parse_product_spec(std::string_view typed);

// As written in the manifest's name, since 24.03.0 and 24.3.0 are two files.
struct ProductVersion {
  std::string text;
  DottedVersion number;
};

// The version of a product that the name of a manifest stands for; nothing for any other file name.
std::optional<ProductVersion> version_of_manifest_name(std::string_view name);

// The product that goes by that name; null if none does.
const ProductRow* find_product(const Registry& registry, std::string_view typed);

// The same, or what to do instead: ErrorKind::not_found with the way to get what has no manifest, the option that
// brings a component of the toolkit, or what may have been meant. `release`: of the toolkit, if there is one.
[[nodiscard]] Result<const ProductRow*> require_product(const Registry& registry, std::string_view typed,
                                                        const std::optional<Version>& release);

// The digest of a manifest, and the versions that there are, as far as the registry knows; empty where it does not.
std::string_view known_digest(const Registry& registry, const ProductRow& product, const DottedVersion& version);
std::vector<ProductVersion> known_versions(const Registry& registry, const ProductRow& product);

// Those that may be meant, newest first.
std::vector<ProductVersion> candidates(std::vector<ProductVersion> published, const ProductSpec& spec);

// What a version of a product has for a platform.
struct ProductFit {
  std::vector<PlannedComponent> components = {};  // for the release; views refer to the manifest
  std::vector<std::string> builds = {};           // the CUDA versions that there are archives for: 12, 13, 13.5
};
ProductFit fit_of(const Manifest& manifest, const ProductRow& product, const Registry& registry,
                  const DottedVersion& version, const Version& release, std::string_view platform);

// Whether one of the product's components has the number that was asked for.
bool has_own_number(const Manifest& manifest, const ProductRow& product, const ProductSpec& spec,
                    const DottedVersion& version);

// What is known of one version after its manifest was read.
struct SeenVersion {
  ProductVersion version;
  std::vector<std::string> builds;
  bool fits = false;
};

// Why none of those that were asked for can be had, with what could. `seen`: newest first.
Error no_fit(const ProductRow& product, const ProductSpec& spec, const Version& release, std::string_view platform,
             std::span<const SeenVersion> seen);

// The error of a version that is not published.
Error no_such_version(const ProductRow& product, const ProductSpec& spec, std::vector<ProductVersion> published);

std::string to_text(const ProductSpec& spec);  // as typed

}  // namespace cudaenv::core
