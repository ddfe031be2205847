// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "core/product.hpp"
#include "redist/source.hpp"

// NVIDIA's other redistributables: which version of what goes into a toolkit, and where it comes from.

namespace cudaenv::installer {

// A product that was asked for.
struct WantedProduct {
  core::ProductSpec spec;
  const core::ProductRow* row;
};

// What was typed, as products; one that is typed twice counts once, unless for two versions (ErrorKind::usage).
// `release`: of the toolkit, if there is one; for the words of a refusal.
[[nodiscard]] Result<std::vector<WantedProduct>> wanted_products(const std::vector<std::string>& typed,
                                                                 const core::Registry& registry,
                                                                 const std::optional<core::Version>& release);

// A version of a product that fits a toolkit, ready to be fetched.
struct PlannedProduct {
  std::string name;     // cudnn
  std::string version;  // 9.14.0
  std::string manifest_sha256;
  std::unique_ptr<const core::Manifest> manifest;  // what the components refer to
  std::vector<core::PlannedComponent> components;  // each names the product
  std::vector<redist::Source> sources;             // of their archives, the one that the manifest came from first
  std::string warning = {};                        // of the manifest; told by plan_product

  std::uint64_t download_size() const;
};

// What it is to fit, and how its manifests are judged.
struct ProductTarget {
  core::Version release;
  std::string platform;
  redist::AcceptedManifest accepted;
  std::string command;  // to type with --accept-manifest
};

// The newest version that was asked for and has an archive for the target, of the first base that answers and has one:
// the next one is tried as for the toolkit. `bases` are those of the toolkit.
[[nodiscard]] Result<PlannedProduct> plan_product(const WantedProduct& wanted, const std::vector<redist::Source>& bases,
                                                  const ProductTarget& target, const core::Registry& registry,
                                                  base::Output& output);

// The answer of the first of the bases that has one, asked for at the product's own place there. One whose error makes
// way for the next is left out, with a warning; what is wrong with the last one is the error.
[[nodiscard]] Result<PlannedProduct> first_planned(
    const core::ProductRow& row, const std::vector<redist::Source>& bases, base::Output& output,
    const std::function<Result<PlannedProduct>(const redist::Source&)>& ask,
    const std::function<bool(const Error&)>& makes_way);

}  // namespace cudaenv::installer
