// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/registry.hpp"

namespace cudaenv::core {

// Questions to the registry. All are pure and none fails: a null pointer, an empty span or nothing says
// that the tables do not know. What is returned points into the tables.

// --- Releases ---

const ReleaseRow* find_release(const Registry& registry, Version release);

// The releases of a major or minor, oldest first, previews included.
std::span<const ReleaseRow> releases_of(const Registry& registry, std::uint32_t major);
std::span<const ReleaseRow> releases_of(const Registry& registry, std::uint32_t major, std::uint32_t minor);

enum class Among { all, installable };  // installable: published as archives. Previews are in neither

// The last of these rows that is no preview.
const ReleaseRow* newest_release(std::span<const ReleaseRow> oldest_first, Among among);

// `unknown`: older than the tables reach, or it may have come out after they were written.
enum class Released { yes, no, unknown };

// Whether NVIDIA ever released that minor (12.7: no).
Released was_released(const Registry& registry, std::uint32_t major, std::uint32_t minor);
// The same for one release (a preview counts). An update past the newest one known is `unknown`, since
// NVIDIA updates old minors too: 12.8.2 came out after 13.2.0.
Released was_released(const Registry& registry, Version release);

// For "nearest: 12.6.3, 12.8.2": the newest release below and the nearest one above, the latter as the
// newest of its minor when that is another minor. Two at most, ascending.
std::vector<Version> nearest_releases(const Registry& registry, Version release, Among among);
std::vector<Version> nearest_releases(const Registry& registry, std::uint32_t major, std::uint32_t minor, Among among);

// A version number that belongs to a component and is often taken for the release: 12.4.131 is nvcc of 12.4.1.
struct ComponentMatch {
  const ReleaseRow* release;   // the newest one with it: several releases may share a component's version
  std::string_view component;  // "nvcc" or "cudart"; nvcc when it is both
};
std::optional<ComponentMatch> release_of_component_version(const Registry& registry, DottedVersion version);

// --- Drivers ---

const MajorRow* find_major(const Registry& registry, std::uint32_t major);
const DriverBranchRow* find_driver_branch(const Registry& registry, std::uint32_t branch);

enum class DriverNumbers { of_linux, of_windows };

// The branch that a driver belongs to. On Linux that is its first number, and the next known branch below where that
// number is between two. Windows drivers of one branch count on (551.61 is of 550, 616.41 of 615), by less than
// five. Null where the driver is older or newer than the tables.
const DriverBranchRow* branch_of(const Registry& registry, DottedVersion driver, DriverNumbers numbers);

// The package of the minor, where it is supported on that branch.
const CompatRow* find_compat(const Registry& registry, Minor toolkit, std::uint32_t branch);

// --- Architectures and GPUs ---

// 7.5 is written 75 in sm_75, and 12.1 is 121.
constexpr std::uint16_t architecture_code(ComputeCapability capability) {
  return static_cast<std::uint16_t>(capability.major * 10 + capability.minor);
}
constexpr ComputeCapability capability_of_code(std::uint16_t code) {
  return {static_cast<std::uint16_t>(code / 10), static_cast<std::uint16_t>(code % 10)};
}

// The minor's row, which holds for all its updates.
const ToolkitArchitecturesRow* architectures_of(const Registry& registry, Version release);

// The code of the GPU itself among those of a toolkit, ascending: under its own number, or its former one (Thor is 10.1
// to 12.9 and 11.0 from 13.0). 0: it is not among them.
std::uint16_t own_code(const Registry& registry, std::span<const std::uint16_t> codes, ComputeCapability gpu);

// Whether nvcc of that row can compile for the GPU itself.
bool can_target(const Registry& registry, const ToolkitArchitecturesRow& toolkit, ComputeCapability gpu);

// The oldest and newest minor that can target a GPU; both null when none can.
struct ToolkitRange {
  const ToolkitArchitecturesRow* oldest = nullptr;
  const ToolkitArchitecturesRow* newest = nullptr;
};
ToolkitRange toolkits_for(const Registry& registry, ComputeCapability gpu);

const ChipRow* find_chip(const Registry& registry, ComputeCapability capability);
const PciRow* find_pci_device(const Registry& registry, std::uint16_t device);
const HostCompilerRow* host_compilers_of(const Registry& registry, Version release);

// Order of product names: case does not count, and a hyphen is a space, since drivers write "V100-SXM2-16GB"
// where lists of products write "V100 SXM2 16GB".
constexpr std::strong_ordering compare_gpu_names(std::string_view a, std::string_view b) {
  constexpr auto fold = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' ? ' ' : c;
  };
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (fold(a[i]) != fold(b[i]))
      return static_cast<unsigned char>(fold(a[i])) <=> static_cast<unsigned char>(fold(b[i]));
  return a.size() <=> b.size();
}

// The rows of a product by the name a driver reports, with or without "NVIDIA " before it; more than one
// when the name was sold with different chips.
std::span<const GpuRow> gpus_named(const Registry& registry, std::string_view name);

// The capability of that product, if the name leaves no doubt. A hint: the driver's own answer wins.
std::optional<ComputeCapability> capability_of_name(const Registry& registry, std::string_view name);

// Whether the product of that name and capability is one for data centres.
bool is_data_center(const Registry& registry, std::string_view name, ComputeCapability capability);

// --- Components ---

const ComponentRow* find_component(const Registry& registry, std::string_view name);

// The row under the component's other name (cccl and cuda_cccl are one component); null when it has none.
const ComponentRow* other_name_of(const Registry& registry, const ComponentRow& component);

// "compiler", "big-tool", ...: as written in registry/components.toml.
std::string_view to_text(ComponentClass component_class);
std::optional<ComponentClass> parse_component_class(std::string_view text);

// Whether profile `full` takes the class. Drivers, compat libraries and Windows parts are never a toolkit's.
constexpr bool is_in_full_profile(ComponentClass component_class) {
  return component_class != ComponentClass::driver && component_class != ComponentClass::compat &&
         component_class != ComponentClass::windows;
}

// --- Sources ---

const SourceRow* find_source(const Registry& registry, std::string_view id);

}  // namespace cudaenv::core
