// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/output.hpp"
#include "core/lock.hpp"
#include "core/registry.hpp"
#include "installer/products.hpp"
#include "redist/source.hpp"

// Products in a cuda.lock: what `lock` writes of them, and how `install --locked` obeys that.

namespace cudaenv::installer {

// ErrorKind::config for a product in the lock that this program does not know.
[[nodiscard]] Result<void> check_products(const base::Path& lock_path, const core::Lock& lock,
                                          const core::Registry& registry);

// As they can be typed: "cudnn@9.14.0".
std::vector<std::string> product_specs(const core::Lock& lock);

// What the lock says of one manifest.
struct LockedManifest {
  std::string subject;       // "CUDA 12.8.1"
  std::string sha256;        // in the lock
  std::string known_sha256;  // by the registry; empty: it knows none
  std::string lock;          // as the lock is shown
};

// The locked manifest, if that is what `fetch` brings, which is then judged as any other. ErrorKind::integrity, with
// both digests, if it is another.
[[nodiscard]] Result<redist::FetchedManifest> fetch_locked(
    const LockedManifest& locked, const redist::Source& source, const redist::AcceptedManifest& accepted,
    const std::function<Result<redist::FetchedManifest>(const redist::AcceptedManifest&)>& fetch);

// The product as it is locked for the target's platform, of the first base that has its very manifest.
[[nodiscard]] Result<PlannedProduct> plan_locked(const core::LockedProduct& locked, const std::string& lock,
                                                 const std::vector<redist::Source>& bases, const ProductTarget& target,
                                                 const core::Registry& registry, base::Output& output);

// What to lock: of each product that was typed one version, for all of the platforms. `target`: with no platform.
[[nodiscard]] Result<std::vector<core::LockedProduct>> products_to_lock(const std::vector<std::string>& typed,
                                                                        const std::vector<std::string>& platforms,
                                                                        const std::vector<redist::Source>& bases,
                                                                        ProductTarget target,
                                                                        const core::Registry& registry,
                                                                        base::Output& output);

}  // namespace cudaenv::installer
