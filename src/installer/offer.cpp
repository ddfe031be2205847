// SPDX-License-Identifier: Apache-2.0
#include "installer/offer.hpp"

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/registry_lookup.hpp"
#include "core/release_choice.hpp"

namespace cudaenv::installer {
namespace {

Result<core::Version> release_of(const core::Spec& spec, const redist::Published& published,
                                 const core::Registry& registry, const core::MachineFacts* machine) {
  if (spec.kind == core::SpecKind::automatic && machine && !published.releases.empty()) {
    if (const auto fit = core::newest_fit(registry, published.releases, *machine)) return *fit;
    return fail(ErrorKind::not_found, "none of the releases published here runs on this machine",
                "cudaenv check latest");
  }
  auto release = core::choose_release(spec, published.releases, registry);
  // Where a base lists nothing, a release newer than this program may be there all the same.
  const bool is_worth_a_try = published.is_from_registry && spec.given == 3 &&
                              !core::find_release(registry, spec.version) && !core::mistaken_number(spec, registry);
  if (!release && is_worth_a_try) return spec.version;
  return release;
}

Result<Offer> offer_of(const redist::Source& source, const std::optional<core::Spec>& wanted,
                       const redist::AcceptedManifest& accepted, const core::Registry& registry,
                       const core::MachineFacts* machine) {
  CUDAENV_TRY(published, redist::published_releases(source, registry));
  Offer offer{std::move(published)};
  if (!wanted) return offer;
  CUDAENV_TRY(release, release_of(*wanted, offer.published, registry, machine));
  CUDAENV_TRY(manifest, redist::fetch_manifest(source, release, registry, accepted));
  offer.release = release;
  offer.manifest = std::move(manifest);
  return offer;
}

}  // namespace

bool another_base_may_do(ErrorKind kind) {
  return kind == ErrorKind::network || kind == ErrorKind::filesystem || kind == ErrorKind::not_found ||
         kind == ErrorKind::integrity;
}

std::string next_mirror_warning(const Error& error, const redist::Source& source) {
  const std::string base = source.location.shown();
  const bool is_named = error.message.find(base) != std::string::npos;
  return fmt::format("{}{}; trying the next mirror", error.message, is_named ? "" : " (" + base + ")");
}

Result<Offer> first_answer(std::vector<redist::Source>& sources, base::Output& output,
                           const std::function<Result<Offer>(const redist::Source&)>& ask,
                           const std::function<bool(const Error&)>& makes_way) {
  while (true) {
    auto offer = ask(sources.front());
    if (offer || !makes_way(offer.error()) || sources.size() == 1) return offer;
    output.warning(next_mirror_warning(offer.error(), sources.front()));
    sources.erase(sources.begin());
  }
}

Result<Offer> first_offer(std::vector<redist::Source>& sources, const std::optional<core::Spec>& wanted,
                          const redist::AcceptedManifest& accepted, const core::Registry& registry,
                          const core::MachineFacts* machine, base::Output& output) {
  const bool is_a_mistake = wanted && core::mistaken_number(*wanted, registry);
  return first_answer(
      sources, output,
      [&](const redist::Source& source) { return offer_of(source, wanted, accepted, registry, machine); },
      [&](const Error& error) {
        return another_base_may_do(error.kind) && !(is_a_mistake && error.kind == ErrorKind::not_found);
      });
}

}  // namespace cudaenv::installer
