// SPDX-License-Identifier: Apache-2.0
#include "core/registry_lookup.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace cudaenv::core {
namespace {

constexpr std::uint32_t k_greatest = std::numeric_limits<std::uint32_t>::max();

// The row whose key is `wanted` in a table sorted by that key.
template <class Row, class Key, class KeyOf>
const Row* find_row(std::span<const Row> rows, const Key& wanted, KeyOf key_of) {
  const auto at = std::partition_point(rows.begin(), rows.end(), [&](const Row& row) { return key_of(row) < wanted; });
  return at != rows.end() && key_of(*at) == wanted ? &*at : nullptr;
}

template <class Row>
const Row* find_minor(std::span<const Row> rows, Version release) {
  return find_row(rows, std::pair(release.major, release.minor),
                  [](const Row& row) { return std::pair(row.major, row.minor); });
}

// The rows from `first` to `last`, both included.
std::span<const ReleaseRow> release_range(const Registry& registry, Version first, Version last) {
  const auto rows = registry.releases;
  const auto begin =
      std::partition_point(rows.begin(), rows.end(), [&](const ReleaseRow& row) { return row.release < first; });
  const auto end = std::partition_point(begin, rows.end(), [&](const ReleaseRow& row) { return row.release <= last; });
  return {begin, end};
}

bool is_among(const ReleaseRow& row, Among among) {
  return !row.is_preview && (among == Among::all || row.has_archives);
}

// The neighbours of the releases from `first` to `last`, which may be one and the same.
std::vector<Version> neighbours(const Registry& registry, Version first, Version last, Among among) {
  std::vector<Version> found;
  const auto rows = registry.releases;
  const auto below =
      std::partition_point(rows.begin(), rows.end(), [&](const ReleaseRow& row) { return row.release < first; });
  if (const auto* row = newest_release({rows.begin(), below}, among)) found.push_back(row->release);

  const auto fits = [&](const ReleaseRow& row) { return row.release > last && is_among(row, among); };
  if (const auto above = std::find_if(rows.begin(), rows.end(), fits); above != rows.end()) {
    const Version next = above->release;
    if (next.major == last.major && next.minor == last.minor)
      found.push_back(next);
    else
      found.push_back(newest_release(releases_of(registry, next.major, next.minor), among)->release);
  }
  return found;
}

constexpr std::array<std::pair<ComponentClass, std::string_view>, 9> k_class_names{{
    {ComponentClass::compiler, "compiler"},
    {ComponentClass::headers, "headers"},
    {ComponentClass::library, "library"},
    {ComponentClass::tool, "tool"},
    {ComponentClass::big_tool, "big-tool"},
    {ComponentClass::docs, "docs"},
    {ComponentClass::compat, "compat"},
    {ComponentClass::driver, "driver"},
    {ComponentClass::windows, "windows"},
}};

}  // namespace

const ReleaseRow* find_release(const Registry& registry, Version release) {
  return find_row(registry.releases, release, [](const ReleaseRow& row) { return row.release; });
}

std::span<const ReleaseRow> releases_of(const Registry& registry, std::uint32_t major) {
  return release_range(registry, {major, 0, 0}, {major, k_greatest, k_greatest});
}

std::span<const ReleaseRow> releases_of(const Registry& registry, std::uint32_t major, std::uint32_t minor) {
  return release_range(registry, {major, minor, 0}, {major, minor, k_greatest});
}

const ReleaseRow* newest_release(std::span<const ReleaseRow> oldest_first, Among among) {
  for (std::size_t i = oldest_first.size(); i-- > 0;)
    if (is_among(oldest_first[i], among)) return &oldest_first[i];
  return nullptr;
}

Released was_released(const Registry& registry, std::uint32_t major, std::uint32_t minor) {
  if (!releases_of(registry, major, minor).empty()) return Released::yes;
  const auto rows = registry.releases;
  const bool between = !rows.empty() && rows.front().release < Version{major, minor, 0} &&
                       rows.back().release > Version{major, minor, k_greatest};
  return between ? Released::no : Released::unknown;
}

Released was_released(const Registry& registry, Version release) {
  if (find_release(registry, release)) return Released::yes;
  const auto updates = releases_of(registry, release.major, release.minor);
  if (updates.empty()) return was_released(registry, release.major, release.minor);
  return release < updates.back().release ? Released::no : Released::unknown;
}

std::vector<Version> nearest_releases(const Registry& registry, Version release, Among among) {
  return neighbours(registry, release, release, among);
}

std::vector<Version> nearest_releases(const Registry& registry, std::uint32_t major, std::uint32_t minor, Among among) {
  return neighbours(registry, {major, minor, 0}, {major, minor, k_greatest}, among);
}

std::optional<ComponentMatch> release_of_component_version(const Registry& registry, DottedVersion version) {
  if (!version) return std::nullopt;
  const auto newest_with = [&](DottedVersion ReleaseRow::*number) -> const ReleaseRow* {
    const auto rows = registry.releases;
    for (std::size_t i = rows.size(); i-- > 0;)
      if (rows[i].*number && rows[i].*number == version) return &rows[i];
    return nullptr;
  };
  if (const ReleaseRow* row = newest_with(&ReleaseRow::nvcc_version)) return ComponentMatch{row, "nvcc"};
  if (const ReleaseRow* row = newest_with(&ReleaseRow::cudart_version)) return ComponentMatch{row, "cudart"};
  return std::nullopt;
}

const MajorRow* find_major(const Registry& registry, std::uint32_t major) {
  return find_row(registry.majors, major, [](const MajorRow& row) { return row.major; });
}

const DriverBranchRow* find_driver_branch(const Registry& registry, std::uint32_t branch) {
  return find_row(registry.driver_branches, branch, [](const DriverBranchRow& row) { return row.branch; });
}

const DriverBranchRow* branch_of(const Registry& registry, DottedVersion driver, DriverNumbers numbers) {
  constexpr std::uint32_t k_windows_numbers_a_branch = 5;
  const auto rows = registry.driver_branches;
  const auto above = std::partition_point(rows.begin(), rows.end(),
                                          [&](const DriverBranchRow& row) { return row.branch <= driver[0]; });
  if (!driver || above == rows.begin()) return nullptr;
  const DriverBranchRow& row = *std::prev(above);
  const std::uint32_t reach = numbers == DriverNumbers::of_windows ? k_windows_numbers_a_branch : 1;
  return above != rows.end() || driver[0] < row.branch + reach ? &row : nullptr;
}

const CompatRow* find_compat(const Registry& registry, Minor toolkit, std::uint32_t branch) {
  const CompatRow* row = find_minor(registry.compat, {toolkit.major, toolkit.minor, 0});
  return row && std::binary_search(row->branches.begin(), row->branches.end(), branch) ? row : nullptr;
}

const ToolkitArchitecturesRow* architectures_of(const Registry& registry, Version release) {
  return find_minor(registry.architectures, release);
}

std::uint16_t own_code(const Registry& registry, std::span<const std::uint16_t> codes, ComputeCapability gpu) {
  const auto holds = [&](ComputeCapability capability) {
    return std::binary_search(codes.begin(), codes.end(), architecture_code(capability));
  };
  if (holds(gpu)) return architecture_code(gpu);
  const ChipRow* chip = find_chip(registry, gpu);
  const bool has_former = chip && chip->former_capability != ComputeCapability{} && holds(chip->former_capability);
  return has_former ? architecture_code(chip->former_capability) : std::uint16_t{0};
}

bool can_target(const Registry& registry, const ToolkitArchitecturesRow& toolkit, ComputeCapability gpu) {
  return own_code(registry, toolkit.base, gpu) != 0;
}

ToolkitRange toolkits_for(const Registry& registry, ComputeCapability gpu) {
  ToolkitRange range;
  for (const ToolkitArchitecturesRow& row : registry.architectures) {
    if (!can_target(registry, row, gpu)) continue;
    if (!range.oldest) range.oldest = &row;
    range.newest = &row;
  }
  return range;
}

const ChipRow* find_chip(const Registry& registry, ComputeCapability capability) {
  return find_row(registry.chips, capability, [](const ChipRow& row) { return row.capability; });
}

const PciRow* find_pci_device(const Registry& registry, std::uint16_t device) {
  return find_row(registry.pci, device, [](const PciRow& row) { return row.device; });
}

const HostCompilerRow* host_compilers_of(const Registry& registry, Version release) {
  return find_minor(registry.host_compilers, release);
}

std::span<const GpuRow> gpus_named(const Registry& registry, std::string_view name) {
  constexpr std::string_view k_prefix = "NVIDIA ";
  if (compare_gpu_names(name.substr(0, k_prefix.size()), k_prefix) == 0) name.remove_prefix(k_prefix.size());
  const auto rows = registry.gpus;
  const auto begin = std::partition_point(rows.begin(), rows.end(),
                                          [&](const GpuRow& row) { return compare_gpu_names(row.name, name) < 0; });
  const auto end = std::partition_point(begin, rows.end(),
                                        [&](const GpuRow& row) { return compare_gpu_names(row.name, name) == 0; });
  return {begin, end};
}

std::optional<ComputeCapability> capability_of_name(const Registry& registry, std::string_view name) {
  const auto rows = gpus_named(registry, name);
  if (rows.size() != 1) return std::nullopt;
  return rows.front().capability;
}

bool is_data_center(const Registry& registry, std::string_view name, ComputeCapability capability) {
  const auto rows = gpus_named(registry, name);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const GpuRow& row) { return row.is_data_center && row.capability == capability; });
}

const ComponentRow* find_component(const Registry& registry, std::string_view name) {
  return find_row(registry.components, name, [](const ComponentRow& row) { return row.name; });
}

const ComponentRow* other_name_of(const Registry& registry, const ComponentRow& component) {
  if (!component.renamed_from.empty()) return find_component(registry, component.renamed_from);
  for (const ComponentRow& row : registry.components)
    if (row.renamed_from == component.name) return &row;
  return nullptr;
}

std::string_view to_text(ComponentClass component_class) {
  for (const auto& [value, text] : k_class_names)
    if (value == component_class) return text;
  return {};
}

std::optional<ComponentClass> parse_component_class(std::string_view text) {
  for (const auto& [value, name] : k_class_names)
    if (name == text) return value;
  return std::nullopt;
}

const SourceRow* find_source(const Registry& registry, std::string_view id) {
  return find_row(registry.sources, id, [](const SourceRow& row) { return row.id; });
}

}  // namespace cudaenv::core
