// SPDX-License-Identifier: Apache-2.0
#include "installer/products.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"
#include "installer/offer.hpp"

namespace cudaenv::installer {
namespace {

// Looks through the versions of a product at one base.
class Search {
 public:
  Search(const redist::Source& source, const WantedProduct& wanted, const ProductTarget& target,
         const core::Registry& registry)
      : m_source(source), m_row(*wanted.row), m_spec(wanted.spec), m_target(target), m_registry(registry) {}

  Result<PlannedProduct> run() {
    auto listed = redist::published_versions(m_source, m_row, m_registry);
    if (!listed) return fail(std::move(listed).error().during(fmt::format("while looking for {}", m_row.name)));
    redist::PublishedProduct& published = *listed;
    std::vector<core::ProductVersion> asked = core::candidates(published.versions, m_spec);
    // Where a base lists nothing, a version newer than this program may be there all the same.
    if (asked.empty() && published.is_from_registry && m_spec.version.count > 1)
      asked.push_back({core::to_text(m_spec.version), m_spec.version});
    for (const core::ProductVersion& version : asked) {
      CUDAENV_TRY(planned, look_at(version, published.is_from_registry));
      if (planned && m_seen.back().fits) return std::move(*planned);
    }
    if (m_seen.empty()) return fail(nothing_there(std::move(published.versions)));
    if (m_spec.version) look_elsewhere(published);
    return fail(core::no_fit(m_row, m_spec, m_target.release, m_target.platform, m_seen));
  }

 private:
  // Reads the manifest and keeps in mind what it has. Nothing where a listed manifest is not there, or is of another
  // number than was asked for.
  Result<std::optional<PlannedProduct>> look_at(const core::ProductVersion& version, bool may_be_absent) {
    auto fetched =
        redist::fetch_manifest(m_source,
                               {std::string(m_row.name), version.text, std::string(m_row.folder),
                                std::string(core::known_digest(m_registry, m_row, version.number)), m_target.command},
                               m_target.accepted);
    if (!fetched) {
      if (!may_be_absent || fetched.error().kind != ErrorKind::not_found) return fail(std::move(fetched).error());
      if (!m_absent) m_absent = std::move(fetched).error();
      return std::nullopt;
    }
    if (!core::has_own_number(fetched->manifest, m_row, m_spec, version.number)) return std::nullopt;
    PlannedProduct planned{std::string(m_row.name),
                           version.text,
                           fetched->sha256,
                           std::make_unique<const core::Manifest>(std::move(fetched->manifest)),
                           {},
                           {}};
    core::ProductFit fit =
        core::fit_of(*planned.manifest, m_row, m_registry, version.number, m_target.release, m_target.platform);
    planned.components = std::move(fit.components);
    planned.warning = std::move(fetched->warning);
    m_seen.push_back({version, std::move(fit.builds), !planned.components.empty()});
    return planned;
  }

  // For the words of a refusal: the newest of all versions that does fit, and what is passed on the way to it.
  void look_elsewhere(const redist::PublishedProduct& published) {
    core::ProductSpec any;
    std::swap(any, m_spec);
    for (const core::ProductVersion& version : core::candidates(published.versions, {})) {
      const auto is_seen = std::any_of(m_seen.begin(), m_seen.end(), [&](const core::SeenVersion& seen) {
        return seen.version.text == version.text;
      });
      if (is_seen) continue;
      auto planned = look_at(version, true);
      if (!planned || (*planned && m_seen.back().fits)) break;  // what cannot be read is no better help
    }
    std::swap(any, m_spec);
    std::stable_sort(m_seen.begin(), m_seen.end(), [](const core::SeenVersion& a, const core::SeenVersion& b) {
      return a.version.number > b.version.number;
    });
  }

  Error nothing_there(std::vector<core::ProductVersion> published) {
    if (m_absent) return std::move(*m_absent);
    if (m_spec.version && !published.empty()) return core::no_such_version(m_row, m_spec, std::move(published));
    return Error{ErrorKind::not_found, fmt::format("{} publishes no {}", m_source.location.shown(), m_row.name)};
  }

  const redist::Source& m_source;
  const core::ProductRow& m_row;
  core::ProductSpec m_spec;
  const ProductTarget& m_target;
  const core::Registry& m_registry;
  std::vector<core::SeenVersion> m_seen;
  std::optional<Error> m_absent;  // of the first manifest that the registry knows and the base lacks
};

}  // namespace

std::uint64_t PlannedProduct::download_size() const {
  std::uint64_t bytes = 0;
  for (const core::PlannedComponent& planned : components) bytes += planned.archive.size;
  return bytes;
}

Result<std::vector<WantedProduct>> wanted_products(const std::vector<std::string>& typed,
                                                   const core::Registry& registry,
                                                   const std::optional<core::Version>& release) {
  std::vector<WantedProduct> products;
  for (const std::string& text : typed) {
    CUDAENV_TRY(spec, core::parse_product_spec(text));
    CUDAENV_TRY(row, core::require_product(registry, spec.name, release));
    spec.name = row->name;
    const auto same =
        std::find_if(products.begin(), products.end(), [&](const WantedProduct& other) { return other.row == row; });
    if (same == products.end())
      products.push_back({std::move(spec), row});
    else if (to_text(same->spec) != to_text(spec))
      return fail(ErrorKind::usage,
                  fmt::format("{} and {} cannot both be in one toolkit", to_text(same->spec), to_text(spec)));
  }
  return products;
}

Result<PlannedProduct> first_planned(const core::ProductRow& row, const std::vector<redist::Source>& bases,
                                     base::Output& output,
                                     const std::function<Result<PlannedProduct>(const redist::Source&)>& ask,
                                     const std::function<bool(const Error&)>& makes_way) {
  std::vector<redist::Source> sources;
  for (const redist::Source& base : bases) sources.push_back(redist::product_source(base, row));
  while (true) {
    auto planned = ask(sources.front());
    if (planned) {
      if (!planned->warning.empty()) output.warning(planned->warning);
      planned->sources = std::move(sources);
      return planned;
    }
    if (sources.size() == 1 || !makes_way(planned.error())) return planned;
    output.warning(next_mirror_warning(planned.error(), sources.front()));
    sources.erase(sources.begin());
  }
}

Result<PlannedProduct> plan_product(const WantedProduct& wanted, const std::vector<redist::Source>& bases,
                                    const ProductTarget& target, const core::Registry& registry, base::Output& output) {
  return first_planned(
      *wanted.row, bases, output,
      [&](const redist::Source& source) { return Search(source, wanted, target, registry).run(); },
      [](const Error& error) { return another_base_may_do(error.kind); });
}

}  // namespace cudaenv::installer
