// SPDX-License-Identifier: Apache-2.0
#include "redist/source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::uint64_t k_largest_manifest = 16u << 20;  // bytes; the largest published one has 60 kB

Error differing_manifest(const Source& source, const WantedManifest& wanted, std::string_view found) {
  return Error{ErrorKind::untrusted,
               fmt::format("the manifest of {} {} from {} is not the one that NVIDIA published", wanted.product,
                           wanted.version, source.location.shown()),
               fmt::format("{} --accept-manifest {}", wanted.command, found),
               {fmt::format("expected sha256 {}", wanted.known_sha256), fmt::format("found    sha256 {}", found),
                "accept it only if you trust that mirror"}};
}

Source source_at(Location location, const SourceOptions& options) {
  TransportOptions how;
  how.idle_timeout = options.idle_timeout;
  how.retry.retries = options.retries;
  how.keep_going = [] { return !base::is_interrupted(); };
  auto transport = open_transport(location, std::move(how));
  return Source{std::move(location), std::move(transport), options};
}

// A label of another product is a slip of NVIDIA's (cublasmp 0.1.0 has one) rather than a reason to stop.
std::string label_warning(const core::Manifest& manifest, const WantedManifest& wanted) {
  if (wanted.label.empty() || manifest.release_product.empty() || manifest.release_product == wanted.label) return {};
  return fmt::format("the manifest of {} {} calls its product \"{}\"", wanted.product, wanted.version,
                     base::escaped(manifest.release_product));
}

}  // namespace

Result<Source> open_source(std::string_view text, const SourceOptions& options, const base::Path& working_directory) {
  CUDAENV_TRY(location, parse_location(text, options.plain_http, working_directory));
  return source_at(std::move(location), options);
}

std::vector<Source> opened_again(const std::vector<Source>& sources) {
  std::vector<Source> again;
  for (const Source& source : sources) again.push_back(source_at(source.location, source.options));
  return again;
}

Source product_source(const Source& base, const core::ProductRow& product) {
  return source_at(base.location.product(product.folder), base.options);
}

Result<Published> published_releases(const Source& source, const core::Registry& registry) {
  Published published;
  auto names = source.transport->index();
  if (names) {
    for (const std::string& name : *names)
      if (const auto release = core::release_of_manifest_name(name)) published.releases.push_back(*release);
    // The 4 kB manifests of the time before 11.4.2 list no archives.
    std::erase_if(published.releases, [&](const core::Version& release) {
      const core::ReleaseRow* row = core::find_release(registry, release);
      return row && !row->has_archives;
    });
  } else if (names.error().kind == ErrorKind::not_found && !source.location.is_directory()) {
    published.is_from_registry = true;
    for (const core::ReleaseRow& row : registry.releases)
      if (row.has_archives) published.releases.push_back(row.release);
  } else {
    return fail(std::move(names).error());
  }
  std::sort(published.releases.begin(), published.releases.end());
  published.releases.erase(std::unique(published.releases.begin(), published.releases.end()), published.releases.end());
  return published;
}

Result<PublishedProduct> published_versions(const Source& source, const core::ProductRow& product,
                                            const core::Registry& registry) {
  PublishedProduct published;
  auto names = source.transport->index();
  if (names) {
    for (const std::string& name : *names)
      if (auto version = core::version_of_manifest_name(name)) published.versions.push_back(std::move(*version));
    return published;
  }
  if (names.error().kind != ErrorKind::not_found || source.location.is_directory())
    return fail(std::move(names).error());
  published.is_from_registry = true;
  published.versions = core::known_versions(registry, product);
  return published;
}

Result<FetchedManifest> fetch_manifest(const Source& source, const WantedManifest& wanted,
                                       const AcceptedManifest& accepted) {
  const std::string name = core::manifest_name(wanted.version);
  const std::string& known = wanted.known_sha256;
  const auto is_acceptable = [&](const std::string& digest) {
    if (digest.empty()) return false;  // it could not be taken
    return known.empty() || digest == known || accepted.digest == "any" || accepted.digest == digest;
  };

  CUDAENV_TRY(text, source.transport->text(name, k_largest_manifest));
  std::string digest = sha256_of(text);
  if (!is_acceptable(digest) && !source.location.is_nvidia()) {
    CUDAENV_TRY(again, source.transport->text(name, k_largest_manifest));
    text = std::move(again);
    digest = sha256_of(text);
    if (!is_acceptable(digest)) return fail(differing_manifest(source, wanted, digest));
  }

  FetchedManifest fetched;
  fetched.sha256 = digest;
  const auto named = [&](Error error) {
    return fail(std::move(error).during(fmt::format("read from {}", source.location.shown(name))));
  };
  auto document = base::parse_json(text);
  if (!document)
    return named({ErrorKind::integrity, "the manifest is not usable: " + base::escaped(document.error().message)});
  auto manifest = core::parse_manifest(*document);
  if (!manifest) return named(std::move(manifest).error());
  if (auto labelled = core::check_label(*manifest, wanted.product, wanted.version); !labelled)
    return named(std::move(labelled).error());
  fetched.warning = is_acceptable(digest)
                        ? label_warning(*manifest, wanted)
                        : fmt::format("NVIDIA has issued the manifest of {} {} anew: sha256 {}, known was {}",
                                      wanted.product, wanted.version, digest, known);
  fetched.manifest = std::move(*manifest);
  fetched.text = std::move(text);
  return fetched;
}

Result<FetchedManifest> fetch_manifest(const Source& source, const core::Version& release,
                                       const core::Registry& registry, const AcceptedManifest& accepted) {
  const core::ReleaseRow* row = core::find_release(registry, release);
  const std::string version = core::to_text(release);
  return fetch_manifest(
      source,
      {"CUDA", version, "", std::string(row ? row->manifest_sha256 : std::string_view()), "cudaenv install " + version},
      accepted);
}

bool has_manifest(const Source& source, std::string_view version, std::string_view sha256) {
  const auto text = source.transport->text(core::manifest_name(version), k_largest_manifest);
  return text && sha256_of(*text) == sha256;
}

}  // namespace cudaenv::redist
