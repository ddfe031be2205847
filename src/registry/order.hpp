// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include "core/registry_lookup.hpp"

namespace cudaenv::registry {

// The order of each table, in one place for the loader that sorts, the compiled tables that assert it and
// the tests. It is strict: no two rows of a table are equal under it.

constexpr bool before(const core::ReleaseRow& a, const core::ReleaseRow& b) { return a.release < b.release; }
constexpr bool before(const core::MajorRow& a, const core::MajorRow& b) { return a.major < b.major; }
constexpr bool before(const core::DriverBranchRow& a, const core::DriverBranchRow& b) { return a.branch < b.branch; }
constexpr bool before(const core::CompatRow& a, const core::CompatRow& b) {
  return std::pair(a.major, a.minor) < std::pair(b.major, b.minor);
}
constexpr bool before(const core::ToolkitArchitecturesRow& a, const core::ToolkitArchitecturesRow& b) {
  return std::pair(a.major, a.minor) < std::pair(b.major, b.minor);
}
constexpr bool before(const core::ChipRow& a, const core::ChipRow& b) { return a.capability < b.capability; }
constexpr bool before(const core::GpuRow& a, const core::GpuRow& b) {
  const auto names = core::compare_gpu_names(a.name, b.name);
  return names != 0 ? names < 0 : a.capability < b.capability;
}
constexpr bool before(const core::PciRow& a, const core::PciRow& b) { return a.device < b.device; }
constexpr bool before(const core::HostCompilerRow& a, const core::HostCompilerRow& b) {
  return std::pair(a.major, a.minor) < std::pair(b.major, b.minor);
}
constexpr bool before(const core::ComponentRow& a, const core::ComponentRow& b) { return a.name < b.name; }
constexpr bool before(const core::ProductRow& a, const core::ProductRow& b) { return a.name < b.name; }
constexpr bool before(const core::FlatArchivesRow& a, const core::FlatArchivesRow& b) {
  return a.product != b.product ? a.product < b.product : a.first < b.first;
}
constexpr bool before(const core::ProductManifestRow& a, const core::ProductManifestRow& b) {
  if (a.folder != b.folder) return a.folder < b.folder;
  return core::parse_dotted_version(a.version) < core::parse_dotted_version(b.version);
}
constexpr bool before(const core::ElsewhereRow& a, const core::ElsewhereRow& b) { return a.name < b.name; }
constexpr bool before(const core::SourceRow& a, const core::SourceRow& b) { return a.id < b.id; }

template <class Row>
constexpr bool is_strictly_sorted(std::span<const Row> rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!before(rows[i - 1], rows[i])) return false;
  return true;
}

}  // namespace cudaenv::registry
