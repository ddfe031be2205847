// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/dotted_version.hpp"
#include "core/registry_components.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// The facts of registry/*.toml as sorted rows. Where each comes from is written beside it in those
// files; `source` names the ids there. A row that is missing means "unknown", never "no".

struct ComputeCapability {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend constexpr auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

// One release of the toolkit; sorted by release. Unknown texts are empty, unknown versions have count 0.
struct ReleaseRow {
  Version release;
  std::string_view released;     // YYYY-MM-DD
  DottedVersion minimum_driver;  // Linux, for full function; one number where only a branch is listed
  DottedVersion nvcc_version;    // the component's own number, 12.4.131 for 12.4.1
  DottedVersion cudart_version;
  bool has_archives;                 // published as redistributable archives (11.4.2 and later)
  std::string_view manifest_sha256;  // of NVIDIA's redistrib_<release>.json, lower case hex
  std::string_view source;
  bool is_preview = false;  // release candidate or developer preview: never chosen by itself
};

// Minor-version compatibility, one row a major; sorted.
struct MajorRow {
  std::uint32_t major;
  bool minor_version_compatible;
  DottedVersion minimum_driver;  // Linux
  std::string_view source;
  DottedVersion minimum_windows_driver = {};  // what counts under WSL; count 0: NVIDIA lists none
};

// What a driver branch implements; sorted by branch.
struct DriverBranchRow {
  std::uint32_t branch;
  std::uint32_t cuda_major;
  std::uint32_t cuda_minor;
  ComputeCapability oldest_gpu;  // lowest compute capability it still drives
  bool certain;                  // false: ask the driver, do not conclude from the branch
  std::string_view source;
};

// Forward compatibility: the package cuda-compat-X-Y with the libcuda of a newer driver, on data-centre GPUs; sorted
// by minor.
struct CompatRow {
  std::uint32_t major;
  std::uint32_t minor;
  std::span<const std::uint16_t> branches;  // of the kernel's driver on which the package is supported; ascending
  std::string_view source;
};

// An architecture-specific (a) or family-specific (f) form: {90, 'a'} = sm_90a.
struct SuffixedArchitecture {
  std::uint16_t base = 0;
  char suffix = 'a';
  friend constexpr auto operator<=>(const SuffixedArchitecture&, const SuffixedArchitecture&) = default;
};

// The architectures nvcc of one minor accepts, base forms (75 = sm_75), ascending; sorted by minor.
struct ToolkitArchitecturesRow {
  std::uint32_t major;
  std::uint32_t minor;
  std::span<const std::uint16_t> base;
  std::span<const std::uint16_t> deprecated;
  std::uint16_t default_architecture;  // 0: unknown
  DottedVersion ptx_isa;
  std::string_view source;
  std::span<const SuffixedArchitecture> suffixed = {};  // ascending; accepted, but not listed by nvcc
};

// One chip family; sorted by capability.
struct ChipRow {
  ComputeCapability capability;
  std::string_view generation;               // "Hopper"
  std::uint32_t last_driver_branch;          // 0: still supported, or a Jetson, whose driver comes with the board
  std::uint32_t first_driver_branch = 0;     // 0: unknown
  ComputeCapability former_capability = {};  // what older toolkits call the same chip: 10.1 for 11.0; 0.0: nothing
  bool is_tegra = false;                     // integrated: NVIDIA promises no binary compatibility with other chips
};

// A product by its marketing name without a leading "NVIDIA "; sorted by compare_gpu_names, then capability. A
// name that covers two chips has one row for each.
struct GpuRow {
  std::string_view name;
  ComputeCapability capability;
  bool is_data_center = false;  // or DGX: those on which forward compatibility is supported
};

// PCI device id (vendor 10de) to capability; sorted by id.
struct PciRow {
  std::uint16_t device;
  ComputeCapability capability;
  std::string_view name;
};

// Newest host compilers a minor accepts (majors; 0: unknown); sorted by minor.
struct HostCompilerRow {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint16_t newest_gcc;
  std::uint16_t newest_clang;
  std::string_view source;
};

// What a word of a row's `source` (words with spaces between) stands for; sorted by id.
struct SourceRow {
  std::string_view id;
  std::string_view description;
};

// All tables. Values only: main hands them to whoever needs facts.
struct Registry {
  std::string_view date;  // YYYY-MM-DD of the newest fact
  std::span<const ReleaseRow> releases;
  std::span<const MajorRow> majors;
  std::span<const DriverBranchRow> driver_branches;
  std::span<const ToolkitArchitecturesRow> architectures;
  std::span<const ChipRow> chips;
  std::span<const GpuRow> gpus;
  std::span<const PciRow> pci;
  std::span<const HostCompilerRow> host_compilers;
  std::span<const ComponentRow> components;
  std::span<const SourceRow> sources = {};
  std::span<const CompatRow> compat = {};
  std::span<const ProductRow> products = {};
  std::span<const FlatArchivesRow> flat_archives = {};
  std::span<const ProductManifestRow> product_manifests = {};
  std::span<const ElsewhereRow> elsewhere = {};
};

}  // namespace cudaenv::core
