// SPDX-License-Identifier: Apache-2.0
#include "installer/locked_products.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

Result<PlannedProduct> planned_at(const redist::Source& source, const core::LockedProduct& locked,
                                  const core::ProductRow& row, const std::string& lock, const ProductTarget& target,
                                  const core::Registry& registry) {
  const core::DottedVersion number = core::parse_dotted_version(locked.version).value_or(core::DottedVersion{});
  const std::string known(core::known_digest(registry, row, number));
  const std::string subject = fmt::format("{} {}", row.name, locked.version);
  CUDAENV_TRY(fetched, fetch_locked({subject, locked.manifest_sha256, known, lock}, source, target.accepted,
                                    [&](const redist::AcceptedManifest& accepted) {
                                      return redist::fetch_manifest(source,
                                                                    {std::string(row.name), locked.version,
                                                                     std::string(row.folder), known, target.command},
                                                                    accepted);
                                    }));
  PlannedProduct planned{std::string(row.name),
                         locked.version,
                         fetched.sha256,
                         std::make_unique<const core::Manifest>(std::move(fetched.manifest)),
                         {},
                         {},
                         std::move(fetched.warning)};
  planned.components =
      core::fit_of(*planned.manifest, row, registry, number, target.release, target.platform).components;
  std::vector<std::string> lines = core::departures(
      *locked.find(target.platform), core::locked_platform(target.platform, {planned.components, {}, {}}).archives);
  if (lines.empty()) return planned;
  lines.push_back(fmt::format("that is what {} has for it", subject));
  return fail(ErrorKind::integrity, fmt::format("{} is not what would be installed for {}", lock, target.platform),
              "cudaenv lock --check", std::move(lines));
}

}  // namespace

Result<void> check_products(const base::Path& lock_path, const core::Lock& lock, const core::Registry& registry) {
  for (const core::LockedProduct& locked : lock.products) {
    const core::ProductRow* row = core::find_product(registry, locked.name);
    if (row && row->name == locked.name && core::parse_dotted_version(locked.version)) continue;
    return fail(ErrorKind::config,
                fmt::format("{} has {} {}, which this cudaenv does not know", base::escaped(lock_path.native()),
                            base::escaped(locked.name), base::escaped(locked.version)));
  }
  return {};
}

std::vector<std::string> product_specs(const core::Lock& lock) {
  std::vector<std::string> specs;
  for (const core::LockedProduct& product : lock.products)
    specs.push_back(fmt::format("{}@{}", product.name, product.version));
  return specs;
}

Result<redist::FetchedManifest> fetch_locked(
    const LockedManifest& locked, const redist::Source& source, const redist::AcceptedManifest& accepted,
    const std::function<Result<redist::FetchedManifest>(const redist::AcceptedManifest&)>& fetch) {
  auto manifest = fetch({"any"});
  if (manifest && manifest->sha256 != locked.sha256) manifest = fetch({"any"});  // a stale copy on the way
  if (!manifest) return manifest;
  if (manifest->sha256 != locked.sha256)
    return fail(ErrorKind::integrity,
                fmt::format("the manifest of {} from {} is not the one of {}", locked.subject, source.location.shown(),
                            locked.lock),
                "cudaenv lock --check",
                {fmt::format("locked sha256 {}", locked.sha256), fmt::format("found  sha256 {}", manifest->sha256)});
  // It is what the lock says; now whether it is to be trusted.
  if (locked.known_sha256.empty() || locked.known_sha256 == manifest->sha256) return manifest;
  return fetch(accepted);
}

Result<PlannedProduct> plan_locked(const core::LockedProduct& locked, const std::string& lock,
                                   const std::vector<redist::Source>& bases, const ProductTarget& target,
                                   const core::Registry& registry, base::Output& output) {
  CUDAENV_TRY(row, core::require_product(registry, locked.name, target.release));
  return first_planned(
      *row, bases, output,
      [&](const redist::Source& source) { return planned_at(source, locked, *row, lock, target, registry); },
      [](const Error& error) {
        return error.kind != ErrorKind::interrupted && error.kind != ErrorKind::internal;  // right elsewhere, perhaps
      });
}

Result<std::vector<core::LockedProduct>> products_to_lock(const std::vector<std::string>& typed,
                                                          const std::vector<std::string>& platforms,
                                                          const std::vector<redist::Source>& bases,
                                                          ProductTarget target, const core::Registry& registry,
                                                          base::Output& output) {
  CUDAENV_TRY(wanted, wanted_products(typed, registry, target.release));
  std::vector<core::LockedProduct> products;
  for (WantedProduct& product : wanted) {
    core::LockedProduct locked{std::string(product.row->name), "", "", {}};
    for (const std::string& platform : platforms) {
      target.platform = platform;
      CUDAENV_TRY(planned, plan_product(product, bases, target, registry, output));
      if (locked.platforms.empty()) {
        locked.version = planned.version;
        locked.manifest_sha256 = planned.manifest_sha256;
        CUDAENV_TRY(exact, core::parse_product_spec(fmt::format("{}@{}", planned.name, planned.version)));
        product.spec = std::move(exact);
      } else if (planned.manifest_sha256 != locked.manifest_sha256) {
        return fail(ErrorKind::integrity,
                    fmt::format("{} {} has another manifest for {} than for {}", planned.name, planned.version,
                                platform, locked.platforms.front().name),
                    "", {fmt::format("it is from {}", planned.sources.front().location.shown())});
      }
      locked.platforms.push_back(core::locked_platform(platform, {planned.components, {}, {}}));
    }
    products.push_back(std::move(locked));
  }
  std::sort(products.begin(), products.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return products;
}

}  // namespace cudaenv::installer
