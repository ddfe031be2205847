// SPDX-License-Identifier: Apache-2.0
#include "core/product.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"

// A product is published like the toolkit, one manifest a version, but for several CUDA at once: a nested manifest says
// for which each archive was built, a flat one does not, and the registry has to know. So the version to take depends
// on the toolkit, and is found by reading manifests from the newest on.

namespace cudaenv::core {
namespace {

std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

template <class Row>
const Row* find_named(std::span<const Row> rows, std::string_view typed) {
  const std::string name = folded(typed);
  for (const Row& row : rows)
    if (row.name == name || std::find(row.also.begin(), row.also.end(), name) != row.also.end()) return &row;
  return nullptr;
}

bool begins_alike(const DottedVersion& a, const DottedVersion& b, std::size_t count) {
  return std::equal(a.part.begin(), a.part.begin() + static_cast<std::ptrdiff_t>(count), b.part.begin());
}

const FlatArchivesRow* flat_archives_of(const Registry& registry, const ProductRow& product,
                                        const DottedVersion& version) {
  for (const FlatArchivesRow& row : registry.flat_archives)
    if (row.product == product.name && row.first <= version && version <= row.last) return &row;
  return nullptr;
}

void add_build(std::vector<std::string>& builds, std::string build) {
  if (std::find(builds.begin(), builds.end(), build) == builds.end()) builds.push_back(std::move(build));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

Error error_of_elsewhere(const ElsewhereRow& row, const Registry& registry, const std::optional<Version>& release) {
  std::string command(row.command);
  const std::uint32_t newest = registry.majors.empty() ? 0 : registry.majors.back().major;
  replace_all(command, "{major}", fmt::format("{}", release ? release->major : newest));
  return Error{ErrorKind::not_found,
               fmt::format("NVIDIA publishes no manifest of {}, so cudaenv cannot add it", row.name),
               std::move(command),
               {std::string(row.how)}};
}

// libcublas, and cublas too.
const ComponentRow* component_named(const Registry& registry, std::string_view typed) {
  const std::string name = folded(typed);
  for (const char* prefix : {"", "lib", "cuda_"})
    if (const ComponentRow* row = find_component(registry, prefix + name)) return row;
  return nullptr;
}

std::string list_of(const std::vector<std::string>& builds) {
  if (builds.size() < 2) return base::join(builds, "");
  return base::join(std::span(builds).first(builds.size() - 1), ", ") + " and " + builds.back();
}

// "9.12.0 to 9.14.0: for CUDA 12 and 13", a line for each run of versions that were built alike; newest first.
std::vector<std::string> ranges_of(std::span<const SeenVersion> seen) {
  constexpr std::size_t k_most_lines = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < seen.size() && lines.size() < k_most_lines;) {
    std::size_t end = i + 1;
    while (end < seen.size() && seen[end].builds == seen[i].builds) ++end;
    const std::string& newest = seen[i].version.text;
    const std::string& oldest = seen[end - 1].version.text;
    const std::string versions = end == i + 1 ? base::escaped(newest) : base::escaped(oldest + " to " + newest);
    lines.push_back(seen[i].builds.empty() ? fmt::format("{}: none that is known to fit this platform", versions)
                                           : fmt::format("{}: for CUDA {}", versions, list_of(seen[i].builds)));
    i = end;
  }
  return lines;
}

// Of one component: the CUDA versions that there are archives for, and the one for a release, if there is one.
struct Builds {
  std::vector<std::string> names;
  const Archive* archive = nullptr;
};

Builds builds_of(const PlatformArchives& archives, const FlatArchivesRow* flat, bool any_cuda, const Version& release) {
  Builds builds;
  if (!is_flat(archives)) {
    for (const auto& [variant, archive] : archives.by_variant) builds.names.emplace_back(cuda_of_variant(variant));
    builds.archive = archive_for(archives, release);
    return builds;
  }
  const bool fits =
      flat ? std::find(flat->majors.begin(), flat->majors.end(), release.major) != flat->majors.end() : any_cuda;
  if (fits) builds.archive = &archives.by_variant.front().second;
  if (flat)
    for (const std::uint16_t major : flat->majors) builds.names.push_back(fmt::format("{}", major));
  return builds;
}

PlannedComponent planned(const ProductRow& product, const Component& component, const Archive& archive) {
  PlannedComponent planned{&component, archive, nullptr};
  planned.product = product.name;
  planned.place = product.place;
  return planned;
}

}  // namespace

bool ProductSpec::may_match(const DottedVersion& published) const {
  return begins_alike(version, published, std::min(version.count, published.count));
}

bool ProductSpec::matches(const DottedVersion& published, const DottedVersion& own) const {
  if (!may_match(published)) return false;
  if (version.count <= published.count) return true;
  return own.count >= version.count && begins_alike(version, own, version.count);
}

Result<ProductSpec> parse_product_spec(std::string_view typed) {
  const std::size_t at = std::min(typed.find('@'), typed.size());
  ProductSpec spec{std::string(typed.substr(0, at))};
  const std::string_view version = at < typed.size() ? typed.substr(at + 1) : std::string_view();
  const auto number = parse_dotted_version(version);
  spec.is_latest = version == "latest";
  if (number) spec.version = *number;
  if (!spec.name.empty() && (at == typed.size() || number || spec.is_latest)) return spec;
  return fail(ErrorKind::usage, fmt::format("\"{}\" is no product", base::escaped(typed)), "cudaenv add cudnn",
              {"expected a name, or a name and a version: cudnn, cudnn@9, cudnn@9.14, cudnn@latest"});
}

std::string to_text(const ProductSpec& spec) {
  if (spec.is_latest) return spec.name + "@latest";
  return spec.version ? fmt::format("{}@{}", spec.name, to_text(spec.version)) : spec.name;
}

std::optional<ProductVersion> version_of_manifest_name(std::string_view name) {
  const auto text = version_text_of_manifest_name(name);
  const auto number = text ? parse_dotted_version(*text) : std::nullopt;
  if (!number || number->count < 2) return std::nullopt;
  return ProductVersion{std::string(*text), *number};
}

const ProductRow* find_product(const Registry& registry, std::string_view typed) {
  return find_named(registry.products, typed);
}

Result<const ProductRow*> require_product(const Registry& registry, std::string_view typed,
                                          const std::optional<Version>& release) {
  if (const ProductRow* row = find_product(registry, typed)) return row;
  if (const ElsewhereRow* row = find_named(registry.elsewhere, typed))
    return fail(error_of_elsewhere(*row, registry, release));
  if (const ComponentRow* row = component_named(registry, typed))
    return fail(ErrorKind::not_found, fmt::format("{} is a component of the toolkit itself", row->name),
                fmt::format("cudaenv install {} --with {}{}", release ? to_text(*release) : "latest", row->name,
                            release ? " --force" : ""));
  std::vector<std::string_view> names;
  std::vector<std::string> known;
  for (const ProductRow& row : registry.products) {
    names.push_back(row.name);
    names.insert(names.end(), row.also.begin(), row.also.end());
    known.emplace_back(row.name);
  }
  for (const ElsewhereRow& row : registry.elsewhere) names.push_back(row.name);
  const std::vector<std::string> near = base::did_you_mean(typed, names);
  return fail(ErrorKind::not_found, fmt::format("there is no product \"{}\"", base::escaped(typed)),
              near.empty() ? "cudaenv help add" : fmt::format("cudaenv add {}", near.front()),
              {"known: " + base::join(known, ", ")});
}

std::string_view known_digest(const Registry& registry, const ProductRow& product, const DottedVersion& version) {
  for (const ProductManifestRow& row : registry.product_manifests)
    if (row.folder == product.folder && parse_dotted_version(row.version) == version) return row.sha256;
  return {};
}

std::vector<ProductVersion> known_versions(const Registry& registry, const ProductRow& product) {
  std::vector<ProductVersion> versions;
  for (const ProductManifestRow& row : registry.product_manifests)
    if (row.folder == product.folder)
      if (const auto number = parse_dotted_version(row.version))
        versions.push_back({std::string(row.version), *number});
  return versions;
}

std::vector<ProductVersion> candidates(std::vector<ProductVersion> published, const ProductSpec& spec) {
  std::erase_if(published, [&](const ProductVersion& version) { return !spec.may_match(version.number); });
  std::stable_sort(published.begin(), published.end(),
                   [](const ProductVersion& a, const ProductVersion& b) { return a.number > b.number; });
  return published;
}

ProductFit fit_of(const Manifest& manifest, const ProductRow& product, const Registry& registry,
                  const DottedVersion& version, const Version& release, std::string_view platform) {
  const FlatArchivesRow* flat = flat_archives_of(registry, product, version);
  ProductFit fit;
  bool is_whole = true;
  for (const std::string_view name : product.components) {
    const Component* component = manifest.find(name);
    const PlatformArchives* archives = component ? component->archives_for(platform) : nullptr;
    if (component && !archives) archives = component->archives_for("source");
    if (!archives) continue;
    const Builds builds = builds_of(*archives, flat, product.any_cuda, release);
    for (const std::string& build : builds.names) add_build(fit.builds, build);
    if (!builds.archive) {
      is_whole = false;
      continue;
    }
    PlannedComponent& added = fit.components.emplace_back(planned(product, *component, *builds.archive));
    if (is_flat(*archives) && flat && flat->in_lib) added.lib_directory = fmt::format("{}", release.major);
  }
  if (!is_whole) fit.components.clear();
  return fit;
}

bool has_own_number(const Manifest& manifest, const ProductRow& product, const ProductSpec& spec,
                    const DottedVersion& version) {
  return std::any_of(product.components.begin(), product.components.end(), [&](std::string_view name) {
    const Component* component = manifest.find(name);
    return component && spec.matches(version, parse_dotted_version(component->version).value_or(DottedVersion{}));
  });
}

Error no_fit(const ProductRow& product, const ProductSpec& spec, const Version& release, std::string_view platform,
             std::span<const SeenVersion> seen) {
  Error error{ErrorKind::not_found,
              fmt::format("{} has no archive for CUDA {} ({})", base::escaped(to_text(spec)), to_text(release),
                          base::escaped(platform)),
              "", ranges_of(seen)};
  const auto fitting = std::find_if(seen.begin(), seen.end(), [](const SeenVersion& one) { return one.fits; });
  if (fitting != seen.end()) {
    error.hint = fmt::format("cudaenv add {}@{} --to {}", product.name, fitting->version.text, to_text(release));
    return error;
  }
  for (const SeenVersion& one : seen) {
    const auto number = one.builds.empty() ? std::nullopt : parse_dotted_version(one.builds.back());
    if (!number) continue;
    error.hint = fmt::format("cudaenv install {} --add {}", one.builds.back(), product.name);
    break;
  }
  return error;
}

Error no_such_version(const ProductRow& product, const ProductSpec& spec, std::vector<ProductVersion> published) {
  Error error{ErrorKind::not_found, fmt::format("{} {} is not published", product.name, to_text(spec.version)), "", {}};
  const std::vector<ProductVersion> all = candidates(std::move(published), {});
  if (all.empty()) return error;
  ProductSpec alike;
  alike.version = spec.version;
  alike.version.part.fill(0);
  alike.version.part[0] = spec.version.part[0];
  alike.version.count = 1;
  const std::vector<ProductVersion> near = candidates(all, alike);
  const ProductVersion& nearest = near.empty() ? all.front() : near.front();
  error.hint = fmt::format("cudaenv add {}@{}", product.name, nearest.text);
  error.details.push_back(fmt::format("published: {} to {}", all.back().text, all.front().text));
  return error;
}

}  // namespace cudaenv::core
