// SPDX-License-Identifier: Apache-2.0
#include "registry/load_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/registry_lookup.hpp"
#include "registry/order.hpp"

namespace cudaenv::registry {
namespace {

std::string name_of(const core::ReleaseRow& row) {
  return fmt::format("release \"{}.{}.{}\"", row.release.major, row.release.minor, row.release.patch);
}
std::string name_of(const core::MajorRow& row) { return fmt::format("major {}", row.major); }
std::string name_of(const core::DriverBranchRow& row) { return fmt::format("branch {}", row.branch); }
std::string name_of(const core::CompatRow& row) { return fmt::format("compat \"{}.{}\"", row.major, row.minor); }
std::string name_of(const core::ToolkitArchitecturesRow& row) {
  return fmt::format("toolkit \"{}.{}\"", row.major, row.minor);
}
std::string name_of(const core::ChipRow& row) {
  return fmt::format("chip \"{}.{}\"", row.capability.major, row.capability.minor);
}
std::string name_of(const core::GpuRow& row) { return fmt::format("gpu \"{}\"", row.name); }
std::string name_of(const core::PciRow& row) { return fmt::format("device \"{:04x}\"", row.device); }
std::string name_of(const core::HostCompilerRow& row) { return fmt::format("minor \"{}.{}\"", row.major, row.minor); }
std::string name_of(const core::ComponentRow& row) { return fmt::format("component \"{}\"", row.name); }

std::string name_of(const core::ProductRow& row) { return fmt::format("product \"{}\"", row.name); }
std::string name_of(const core::FlatArchivesRow& row) { return fmt::format("flat \"{}\"", row.product); }
std::string name_of(const core::ProductManifestRow& row) {
  return fmt::format("manifest \"{}\" {}", row.folder, row.version);
}
std::string name_of(const core::ElsewhereRow& row) { return fmt::format("elsewhere \"{}\"", row.name); }

template <class RowType>
Result<void> sort_rows(std::string_view file, std::vector<RowType>& rows) {
  std::sort(rows.begin(), rows.end(), [](const RowType& a, const RowType& b) { return before(a, b); });
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!before(rows[i - 1], rows[i])) return fail(fault_in(file, fmt::format("{}: stands twice", name_of(rows[i]))));
  return {};
}

// Files share ids, so one id may come several times, but always with the same meaning.
Result<void> arrange_sources(std::vector<core::SourceRow>& sources) {
  std::sort(sources.begin(), sources.end(),
            [](const core::SourceRow& a, const core::SourceRow& b) { return before(a, b); });
  for (std::size_t i = 1; i < sources.size(); ++i)
    if (sources[i].id == sources[i - 1].id && sources[i].description != sources[i - 1].description)
      return fail(ErrorKind::config, fmt::format("registry files: source {}: described in two ways", sources[i].id));
  const auto same = [](const core::SourceRow& a, const core::SourceRow& b) { return a.id == b.id; };
  sources.erase(std::unique(sources.begin(), sources.end(), same), sources.end());
  return {};
}

void add_needs(const core::Registry& registry, const core::ComponentRow& component, std::set<std::string_view>& found) {
  for (const std::string_view need : component.needs)
    if (found.insert(need).second)
      if (const auto* row = core::find_component(registry, need)) add_needs(registry, *row, found);
}

void close_needs(Tables& tables) {
  core::Registry direct;
  direct.components = tables.components;
  std::vector<std::span<const std::string_view>> closures;
  for (const core::ComponentRow& component : tables.components) {
    std::set<std::string_view> found;
    add_needs(direct, component, found);
    found.erase(component.name);
    closures.push_back(tables.name_lists.emplace_back(found.begin(), found.end()));
  }
  for (std::size_t i = 0; i < closures.size(); ++i) tables.components[i].needs = closures[i];
}

Result<void> check_capability(const core::Registry& registry, std::string_view file, const std::string& row,
                              core::ComputeCapability capability) {
  if (core::find_chip(registry, capability)) return {};
  return fail(fault_in(
      file, fmt::format("{}: capability {}.{} has no chip in gpus.toml", row, capability.major, capability.minor)));
}

// A release past the last row of another table is new and not yet known there; a gap before is a mistake.
Result<void> check_releases(const core::Registry& registry) {
  constexpr std::string_view k_file = "releases.toml";
  const core::MajorRow& last_major = registry.majors.back();
  const core::ToolkitArchitecturesRow& last_minor = registry.architectures.back();
  for (const core::ReleaseRow& row : registry.releases) {
    if (row.release.major <= last_major.major && !core::find_major(registry, row.release.major))
      return fail(fault_in(k_file, fmt::format("{}: its major is not in drivers.toml", name_of(row))));
    if (row.release < core::Version{last_minor.major, last_minor.minor, 0} &&
        !core::architectures_of(registry, row.release))
      return fail(fault_in(k_file, fmt::format("{}: its minor is not in architectures.toml", name_of(row))));
    if (!row.has_archives && !row.manifest_sha256.empty())
      return fail(fault_in(k_file, fmt::format("{}: has a manifest digest, but no archives", name_of(row))));
  }
  return {};
}

Result<void> check_architectures(const core::Registry& registry) {
  constexpr std::string_view k_file = "architectures.toml";
  for (const core::ToolkitArchitecturesRow& row : registry.architectures) {
    const auto in_base = [&](std::uint16_t code) { return std::binary_search(row.base.begin(), row.base.end(), code); };
    for (const std::uint16_t code : row.base)
      CUDAENV_CHECK(check_capability(registry, k_file, name_of(row), core::capability_of_code(code)));
    for (const std::uint16_t code : row.deprecated)
      if (!in_base(code))
        return fail(fault_in(k_file, fmt::format("{}: deprecated {} is not in base", name_of(row), code)));
    for (const core::SuffixedArchitecture form : row.suffixed)
      if (!in_base(form.base))
        return fail(fault_in(k_file, fmt::format("{}: {}{} is not in base", name_of(row), form.base, form.suffix)));
    if (row.default_architecture != 0 && !in_base(row.default_architecture))
      return fail(
          fault_in(k_file, fmt::format("{}: default {} is not in base", name_of(row), row.default_architecture)));
  }
  return {};
}

// A package is for drivers that are older than it.
Result<void> check_compat(const core::Registry& registry) {
  constexpr std::string_view k_file = "drivers.toml";
  for (const core::CompatRow& row : registry.compat) {
    for (const std::uint16_t number : row.branches) {
      const core::DriverBranchRow* branch = core::find_driver_branch(registry, number);
      if (!branch) return fail(fault_in(k_file, fmt::format("{}: branch {} has no row", name_of(row), number)));
      if (core::Minor{branch->cuda_major, branch->cuda_minor} >= core::Minor{row.major, row.minor})
        return fail(fault_in(k_file, fmt::format("{}: branch {} is as new itself", name_of(row), number)));
    }
  }
  return {};
}

Result<void> check_gpus(const core::Registry& registry) {
  for (const core::ChipRow& row : registry.chips)
    if (row.former_capability != core::ComputeCapability{})
      CUDAENV_CHECK(check_capability(registry, "gpus.toml", name_of(row), row.former_capability));
  for (const core::GpuRow& row : registry.gpus)
    CUDAENV_CHECK(check_capability(registry, "gpus.toml", name_of(row), row.capability));
  for (const core::PciRow& row : registry.pci)
    CUDAENV_CHECK(check_capability(registry, "pci_ids.toml", name_of(row), row.capability));
  for (const core::DriverBranchRow& row : registry.driver_branches)
    CUDAENV_CHECK(check_capability(registry, "drivers.toml", name_of(row), row.oldest_gpu));
  for (const core::HostCompilerRow& row : registry.host_compilers)
    if (!core::architectures_of(registry, {row.major, row.minor, 0}))
      return fail(fault_in("host_compilers.toml", fmt::format("{}: is not in architectures.toml", name_of(row))));
  return {};
}

// What is wrong with a component; empty when nothing is.
std::string component_fault(const core::Registry& registry, const core::ComponentRow& row) {
  if (!row.renamed_from.empty() && (row.renamed_from == row.name || !core::find_component(registry, row.renamed_from)))
    return fmt::format("renamed_from \"{}\" is no other component", row.renamed_from);
  const bool may_be_default = core::is_in_full_profile(row.component_class) &&
                              row.component_class != core::ComponentClass::big_tool &&
                              row.component_class != core::ComponentClass::docs;
  if (row.in_default && !may_be_default)
    return fmt::format("class {} cannot be in profile default", core::to_text(row.component_class));
  if (row.in_minimal && !row.in_default) return "is in profile minimal, but not in default";
  for (const std::string_view name : row.needs) {
    const core::ComponentRow* need = core::find_component(registry, name);
    if (!need) return fmt::format("needs \"{}\", which is no component", name);
    if ((row.in_minimal && !need->in_minimal) || (row.in_default && !need->in_default))
      return fmt::format("needs \"{}\", which is not in its profile", name);
  }
  return {};
}

// A name that is typed stands for one thing.
Result<void> check_product_names(const core::Registry& registry) {
  std::set<std::string_view> names;
  const auto check = [&](const auto& row) -> Result<void> {
    std::vector<std::string_view> own(row.also.begin(), row.also.end());
    own.push_back(row.name);
    for (const std::string_view name : own) {
      if (!names.insert(name).second)
        return fail(
            fault_in("products.toml", fmt::format("{}: \"{}\" stands for something else too", name_of(row), name)));
      if (core::find_component(registry, name))
        return fail(
            fault_in("products.toml", fmt::format("{}: \"{}\" is a component of the toolkit", name_of(row), name)));
    }
    return {};
  };
  for (const core::ProductRow& row : registry.products) CUDAENV_CHECK(check(row));
  for (const core::ElsewhereRow& row : registry.elsewhere) CUDAENV_CHECK(check(row));
  return {};
}

Result<void> check_products(const core::Registry& registry) {
  constexpr std::string_view k_file = "products.toml";
  CUDAENV_CHECK(check_product_names(registry));
  const auto& products = registry.products;
  for (std::size_t i = 0; i < registry.flat_archives.size(); ++i) {
    const core::FlatArchivesRow& row = registry.flat_archives[i];
    const auto is_its = [&](const core::ProductRow& product) { return product.name == row.product; };
    if (std::none_of(products.begin(), products.end(), is_its))
      return fail(fault_in(k_file, fmt::format("{}: is no product", name_of(row))));
    const core::FlatArchivesRow* before = i > 0 ? &registry.flat_archives[i - 1] : nullptr;
    if (before && before->product == row.product && row.first <= before->last)
      return fail(fault_in(k_file, fmt::format("{}: two rows for one version", name_of(row))));
  }
  for (const core::ProductManifestRow& row : registry.product_manifests) {
    const auto is_its = [&](const core::ProductRow& product) { return product.folder == row.folder; };
    if (std::none_of(products.begin(), products.end(), is_its))
      return fail(fault_in(k_file, fmt::format("{}: is the folder of no product", name_of(row))));
  }
  return {};
}

}  // namespace

Result<void> arrange(Tables& tables) {
  CUDAENV_CHECK(sort_rows("releases.toml", tables.releases));
  CUDAENV_CHECK(sort_rows("drivers.toml", tables.majors));
  CUDAENV_CHECK(sort_rows("drivers.toml", tables.driver_branches));
  CUDAENV_CHECK(sort_rows("drivers.toml", tables.compat));
  CUDAENV_CHECK(sort_rows("architectures.toml", tables.architectures));
  CUDAENV_CHECK(sort_rows("gpus.toml", tables.chips));
  CUDAENV_CHECK(sort_rows("gpus.toml", tables.gpus));
  CUDAENV_CHECK(sort_rows("pci_ids.toml", tables.pci));
  CUDAENV_CHECK(sort_rows("host_compilers.toml", tables.host_compilers));
  CUDAENV_CHECK(sort_rows("components.toml", tables.components));
  CUDAENV_CHECK(sort_rows("products.toml", tables.products));
  CUDAENV_CHECK(sort_rows("products.toml", tables.flat_archives));
  CUDAENV_CHECK(sort_rows("products.toml", tables.product_manifests));
  CUDAENV_CHECK(sort_rows("products.toml", tables.elsewhere));
  CUDAENV_CHECK(arrange_sources(tables.sources));
  close_needs(tables);
  return {};
}

Result<void> check_references(const core::Registry& registry) {
  if (registry.releases.empty() || registry.majors.empty() || registry.architectures.empty())
    return fail(ErrorKind::config, "registry files: releases, majors or architectures are missing");
  CUDAENV_CHECK(check_releases(registry));
  CUDAENV_CHECK(check_architectures(registry));
  CUDAENV_CHECK(check_compat(registry));
  CUDAENV_CHECK(check_gpus(registry));
  CUDAENV_CHECK(check_products(registry));
  for (const core::ComponentRow& row : registry.components)
    if (const std::string fault = component_fault(registry, row); !fault.empty())
      return fail(fault_in("components.toml", fmt::format("{}: {}", name_of(row), fault)));
  return {};
}

}  // namespace cudaenv::registry
