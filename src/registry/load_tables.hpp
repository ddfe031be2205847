// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "base/result.hpp"
#include "core/registry.hpp"
#include "registry/load_row.hpp"

namespace cudaenv::registry {

// What the files hold, in the order of the files. Rows point into `arena` and the lists beside it.
struct Tables {
  Arena arena;
  std::deque<std::vector<std::uint16_t>> code_lists;
  std::deque<std::vector<core::SuffixedArchitecture>> suffixed_lists;
  std::deque<std::vector<std::string_view>> name_lists;

  std::vector<core::ReleaseRow> releases;
  std::vector<core::MajorRow> majors;
  std::vector<core::DriverBranchRow> driver_branches;
  std::vector<core::ToolkitArchitecturesRow> architectures;
  std::vector<core::ChipRow> chips;
  std::vector<core::GpuRow> gpus;
  std::vector<core::PciRow> pci;
  std::vector<core::HostCompilerRow> host_compilers;
  std::vector<core::ComponentRow> components;
  std::vector<core::SourceRow> sources;
  std::vector<core::CompatRow> compat;
  std::vector<core::ProductRow> products;
  std::vector<core::FlatArchivesRow> flat_archives;
  std::vector<core::ProductManifestRow> product_manifests;
  std::vector<core::ElsewhereRow> elsewhere;
};

// Reads one kind of file into its tables. Rows are checked one by one; order, uniqueness and references
// are the business of load_check.hpp.
Result<void> read_architectures(const File& file, Tables& tables);
Result<void> read_components(const File& file, Tables& tables);
Result<void> read_drivers(const File& file, Tables& tables);
Result<void> read_gpus(const File& file, Tables& tables);
Result<void> read_host_compilers(const File& file, Tables& tables);
Result<void> read_pci_ids(const File& file, Tables& tables);
Result<void> read_products(const File& file, Tables& tables);
Result<void> read_releases(const File& file, Tables& tables);

}  // namespace cudaenv::registry
