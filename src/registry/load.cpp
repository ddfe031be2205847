// SPDX-License-Identifier: Apache-2.0
#include "registry/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/toml.hpp"
#include "registry/load_check.hpp"
#include "registry/load_tables.hpp"

// A registry file goes through three stages, each of which may assume that the one before has passed:
// reading (load_row, load_tables) turns its rows into typed rows and knows nothing of other rows; arranging
// sorts and finds duplicates; checking follows the references between tables. Only the last one sees built-in
// and run-time tables together.

namespace cudaenv::registry {
namespace {

struct Kind {
  std::string_view name;
  Result<void> (*read)(const File&, Tables&);
  std::array<std::string_view, 4> arrays;  // what the file may hold beside schema, as_of and sources
};

constexpr std::array<Kind, 8> k_kinds{{
    {"architectures.toml", read_architectures, {"toolkit", ""}},
    {"components.toml", read_components, {"component", ""}},
    {"drivers.toml", read_drivers, {"major", "branch", "compat"}},
    {"gpus.toml", read_gpus, {"chip", "gpu"}},
    {"host_compilers.toml", read_host_compilers, {"minor", ""}},
    {"pci_ids.toml", read_pci_ids, {"device", ""}},
    {"products.toml", read_products, {"product", "flat", "manifest", "elsewhere"}},
    {"releases.toml", read_releases, {"release", ""}},
}};

const Kind* find_kind(std::string_view name) {
  const auto at = std::find_if(k_kinds.begin(), k_kinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return at != k_kinds.end() ? &*at : nullptr;
}

Result<void> check_top_level(const File& file, const Kind& kind) {
  constexpr std::int64_t k_schema = 1;
  const base::Value* schema = file.root.find("schema");
  if (!schema || !schema->as_integer() || *schema->as_integer() != k_schema)
    return fail(fault_in(file.name, fmt::format("schema is not {}", k_schema)));
  if (!is_date(file.as_of)) return fail(fault_in(file.name, "as_of is not a date (YYYY-MM-DD)"));
  for (const auto& [key, value] : *file.root.as_object())
    if (key != "schema" && key != "as_of" && key != "sources" &&
        std::find(kind.arrays.begin(), kind.arrays.end(), key) == kind.arrays.end())
      return fail(fault_in(file.name, fmt::format("unknown key {}", key)));
  return {};
}

// The file without its rows: they are read only when it is known that the file counts.
Result<File> open(const Kind& kind, std::string_view text) {
  auto root = base::parse_toml(text);
  if (!root) return fail(fault_in(kind.name, root.error().message));
  File file{.name = kind.name, .root = std::move(*root), .as_of = {}, .source_ids = {}};
  file.as_of = file.root.text("as_of");
  CUDAENV_CHECK(check_top_level(file, kind));
  return file;
}

Result<void> read(const Kind& kind, File& file, Tables& tables) {
  const base::Value* sources = file.root.find("sources");
  if (!sources || !sources->as_object()) return fail(fault_in(file.name, "has no sources"));
  for (const auto& [id, description] : *sources->as_object()) {
    const std::string* text = description.as_string();
    if (!text || text->empty() || id.find(' ') != std::string::npos)
      return fail(fault_in(file.name, fmt::format("source {}: is not an id and a text", id)));
    file.source_ids.insert(id);
    tables.sources.push_back({.id = tables.arena.keep(id), .description = tables.arena.keep(*text)});
  }
  return kind.read(file, tables);
}

// Tables that stay built in cite built-in sources; where a file describes the same id, the file is newer.
void add_sources(const core::Registry& built_in, Tables& tables) {
  std::set<std::string_view> described;
  for (const core::SourceRow& row : tables.sources) described.insert(row.id);
  for (const core::SourceRow& row : built_in.sources)
    if (!described.contains(row.id)) tables.sources.push_back(row);
}

// Shows the tables that were read; the others stay as they are in `view`.
void show(const Tables& tables, core::Registry& view) {
  const auto put = [](const auto& rows, auto& span) {
    if (!rows.empty()) span = rows;
  };
  put(tables.releases, view.releases);
  put(tables.majors, view.majors);
  put(tables.driver_branches, view.driver_branches);
  put(tables.architectures, view.architectures);
  put(tables.chips, view.chips);
  put(tables.gpus, view.gpus);
  put(tables.pci, view.pci);
  put(tables.host_compilers, view.host_compilers);
  put(tables.components, view.components);
  put(tables.sources, view.sources);
  put(tables.compat, view.compat);
  put(tables.products, view.products);
  put(tables.flat_archives, view.flat_archives);
  put(tables.product_manifests, view.product_manifests);
  put(tables.elsewhere, view.elsewhere);
}

}  // namespace

OwnedRegistry::OwnedRegistry(std::unique_ptr<Tables> tables) : m_tables(std::move(tables)) {}
OwnedRegistry::~OwnedRegistry() = default;

Result<std::unique_ptr<OwnedRegistry>> load(const Files& files) {
  for (const std::string_view name : k_file_names)
    if (!files.contains(name)) return fail(fault_in(name, "is missing"));
  return load_over({}, files);
}

Result<std::unique_ptr<OwnedRegistry>> load_over(const core::Registry& built_in, const Files& files) {
  auto owned = std::make_unique<OwnedRegistry>(std::make_unique<Tables>());
  Tables& tables = *owned->m_tables;
  owned->m_view = built_in;
  std::string newest(built_in.date);
  for (const auto& [name, text] : files) {
    const Kind* kind = find_kind(name);
    if (!kind) return fail(fault_in(name, "is not a file of the registry"));
    CUDAENV_TRY(file, open(*kind, text));
    if (file.as_of <= built_in.date) {
      owned->m_passed_over.push_back(name);
      continue;
    }
    newest = std::max(newest, file.as_of);
    CUDAENV_CHECK(read(*kind, file, tables));
  }
  add_sources(built_in, tables);
  CUDAENV_CHECK(arrange(tables));
  owned->m_view.date = tables.arena.keep(newest);
  show(tables, owned->m_view);
  CUDAENV_CHECK(check_references(owned->m_view));
  return owned;
}

}  // namespace cudaenv::registry
