// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/registry.hpp"

namespace cudaenv::registry {

// The texts of registry/*.toml by file name. registry/SCHEMA.md describes them.
using Files = std::map<std::string, std::string, std::less<>>;

inline constexpr std::array<std::string_view, 8> k_file_names{
    "architectures.toml",  "components.toml", "drivers.toml",  "gpus.toml",
    "host_compilers.toml", "pci_ids.toml",    "products.toml", "releases.toml",
};

struct Tables;

// Tables read at run time, with the strings they point to.
class OwnedRegistry {
 public:
  explicit OwnedRegistry(std::unique_ptr<Tables> tables);
  ~OwnedRegistry();
  OwnedRegistry(const OwnedRegistry&) = delete;
  OwnedRegistry& operator=(const OwnedRegistry&) = delete;

  // Valid as long as this object, and for load_over as long as the built-in tables too.
  const core::Registry& view() const { return m_view; }

  // The files that load_over passed over, because the built-in tables are as new.
  const std::vector<std::string>& passed_over() const { return m_passed_over; }

 private:
  friend Result<std::unique_ptr<OwnedRegistry>> load_over(const core::Registry&, const Files&);

  std::unique_ptr<Tables> m_tables;
  core::Registry m_view;
  std::vector<std::string> m_passed_over;
};

// The tables of a full set of files. Everything is checked: numbers, dates and digests are well formed,
// keys are known, rows are unique, sources are named, and every reference from row to row holds. The first
// fault is an error of kind config that names file and row. Rows may stand in any order.
[[nodiscard]] Result<std::unique_ptr<OwnedRegistry>> load(const Files& files);

// The built-in tables with each file's tables put in their place where its `as_of` is newer than
// `built_in.date`. The whole is checked as above; a file of a name that is not in k_file_names is a fault.
[[nodiscard]] Result<std::unique_ptr<OwnedRegistry>> load_over(const core::Registry& built_in, const Files& files);

}  // namespace cudaenv::registry
