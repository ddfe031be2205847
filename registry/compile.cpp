// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/registry_lookup.hpp"
#include "registry/load.hpp"

// The build-time tool that turns registry/*.toml into one C++ file of constant tables:
//
//   registry_compile FOLDER OUTPUT.cpp
//
// It reads and checks the files by the same code that reads them at run time, so a fault in a row stops the
// build with the row's name.

namespace {

using namespace cudaenv;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c < ' ' || c > '~')
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string shown(core::DottedVersion version) {
  if (!version) return "{}";
  return fmt::format("{{{{{}}}, {}}}", fmt::join(version.part.begin(), version.part.begin() + version.count, ", "),
                     version.count);
}

std::string shown(core::ComputeCapability capability) {
  return fmt::format("{{{}, {}}}", capability.major, capability.minor);
}

std::string shown(core::SuffixedArchitecture form) { return fmt::format("{{{}, '{}'}}", form.base, form.suffix); }
std::string shown(std::uint16_t code) { return fmt::format("{}", code); }
std::string shown(std::string_view text) { return quoted(text); }

// Lists that rows point to are arrays of their own, written before the table of the rows.
class Lists {
 public:
  // The name of the array that holds `values`; "{}" when there are none.
  template <class T>
  std::string add(std::string_view type, std::span<const T> values) {
    if (values.empty()) return "{}";
    std::string elements;
    for (const T& value : values) elements += (elements.empty() ? "" : ", ") + shown(value);
    std::string name = fmt::format("k_list_{}", m_count++);
    m_text += fmt::format("constexpr {} {}[] = {{{}}};\n", type, name, elements);
    return name;
  }

  std::string take() { return std::exchange(m_text, {}); }

 private:
  int m_count = 0;
  std::string m_text;
};

std::string row_of(const core::ReleaseRow& row, Lists&) {
  return fmt::format("{{{}, {}, {}}}, {}, {}, {}, {}, {}, {}, {}, {}", row.release.major, row.release.minor,
                     row.release.patch, quoted(row.released), shown(row.minimum_driver), shown(row.nvcc_version),
                     shown(row.cudart_version), row.has_archives, quoted(row.manifest_sha256), quoted(row.source),
                     row.is_preview);
}

std::string row_of(const core::MajorRow& row, Lists&) {
  return fmt::format("{}, {}, {}, {}, {}", row.major, row.minor_version_compatible, shown(row.minimum_driver),
                     quoted(row.source), shown(row.minimum_windows_driver));
}

std::string row_of(const core::DriverBranchRow& row, Lists&) {
  return fmt::format("{}, {}, {}, {}, {}, {}", row.branch, row.cuda_major, row.cuda_minor, shown(row.oldest_gpu),
                     row.certain, quoted(row.source));
}

std::string row_of(const core::CompatRow& row, Lists& lists) {
  return fmt::format("{}, {}, {}, {}", row.major, row.minor, lists.add("std::uint16_t", row.branches),
                     quoted(row.source));
}

std::string row_of(const core::ToolkitArchitecturesRow& row, Lists& lists) {
  return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", row.major, row.minor, lists.add("std::uint16_t", row.base),
                     lists.add("std::uint16_t", row.deprecated), row.default_architecture, shown(row.ptx_isa),
                     quoted(row.source), lists.add("SuffixedArchitecture", row.suffixed));
}

std::string row_of(const core::ChipRow& row, Lists&) {
  return fmt::format("{}, {}, {}, {}, {}, {}", shown(row.capability), quoted(row.generation), row.last_driver_branch,
                     row.first_driver_branch, shown(row.former_capability), row.is_tegra);
}

std::string row_of(const core::GpuRow& row, Lists&) {
  return fmt::format("{}, {}, {}", quoted(row.name), shown(row.capability), row.is_data_center);
}

std::string row_of(const core::PciRow& row, Lists&) {
  return fmt::format("0x{:04x}, {}, {}", row.device, shown(row.capability), quoted(row.name));
}

std::string row_of(const core::HostCompilerRow& row, Lists&) {
  return fmt::format("{}, {}, {}, {}, {}", row.major, row.minor, row.newest_gcc, row.newest_clang, quoted(row.source));
}

std::string_view enumerator(core::ComponentClass component_class) {
  return component_class == core::ComponentClass::big_tool ? "big_tool" : core::to_text(component_class);
}

std::string row_of(const core::ComponentRow& row, Lists& lists) {
  return fmt::format("{}, ComponentClass::{}, {}, {}, {}, {}, {}, {}", quoted(row.name),
                     enumerator(row.component_class), row.in_minimal, row.in_default,
                     lists.add("std::string_view", row.needs), quoted(row.renamed_from), quoted(row.summary),
                     quoted(row.source));
}

std::string row_of(const core::ProductRow& row, Lists& lists) {
  return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", quoted(row.name), lists.add("std::string_view", row.also),
                     quoted(row.folder), lists.add("std::string_view", row.components), quoted(row.place), row.any_cuda,
                     quoted(row.summary), quoted(row.source));
}

std::string row_of(const core::FlatArchivesRow& row, Lists& lists) {
  return fmt::format("{}, {}, {}, {}, {}, {}", quoted(row.product), shown(row.first), shown(row.last),
                     lists.add("std::uint16_t", row.majors), row.in_lib, quoted(row.source));
}

std::string row_of(const core::ProductManifestRow& row, Lists&) {
  return fmt::format("{}, {}, {}, {}", quoted(row.folder), quoted(row.version), quoted(row.sha256), quoted(row.source));
}

std::string row_of(const core::ElsewhereRow& row, Lists& lists) {
  return fmt::format("{}, {}, {}, {}, {}", quoted(row.name), lists.add("std::string_view", row.also), quoted(row.how),
                     quoted(row.command), quoted(row.source));
}

std::string row_of(const core::SourceRow& row, Lists&) {
  return fmt::format("{}, {}", quoted(row.id), quoted(row.description));
}

template <class Row>
std::string table(std::string_view type, std::string_view name, std::span<const Row> rows, Lists& lists) {
  std::string body;
  for (const Row& row : rows) body += fmt::format("    {{{}}},\n", row_of(row, lists));
  return fmt::format(
      "{0}constexpr {1} {2}[] = {{\n{3}}};\nstatic_assert(is_strictly_sorted(std::span<const {1}>({2})));\n\n",
      lists.take(), type, name, body);
}

std::string source_file(const core::Registry& registry) {
  Lists lists;
  std::string out =
      "// Generated by registry_compile from registry/*.toml; edit those.\n"
      "#include \"registry/builtin.hpp\"\n#include \"registry/order.hpp\"\n\n"
      "namespace cudaenv::registry {\nnamespace {\n\nusing namespace core;\n\n";
  out += table("ReleaseRow", "k_releases", registry.releases, lists);
  out += table("MajorRow", "k_majors", registry.majors, lists);
  out += table("DriverBranchRow", "k_driver_branches", registry.driver_branches, lists);
  out += table("ToolkitArchitecturesRow", "k_architectures", registry.architectures, lists);
  out += table("ChipRow", "k_chips", registry.chips, lists);
  out += table("GpuRow", "k_gpus", registry.gpus, lists);
  out += table("PciRow", "k_pci", registry.pci, lists);
  out += table("HostCompilerRow", "k_host_compilers", registry.host_compilers, lists);
  out += table("ComponentRow", "k_components", registry.components, lists);
  out += table("SourceRow", "k_sources", registry.sources, lists);
  out += table("CompatRow", "k_compat", registry.compat, lists);
  out += table("ProductRow", "k_products", registry.products, lists);
  out += table("FlatArchivesRow", "k_flat_archives", registry.flat_archives, lists);
  out += table("ProductManifestRow", "k_product_manifests", registry.product_manifests, lists);
  out += table("ElsewhereRow", "k_elsewhere", registry.elsewhere, lists);
  out += fmt::format(
      "constexpr Registry k_builtin{{{}, k_releases, k_majors, k_driver_branches, k_architectures, k_chips, k_gpus,\n"
      "                             k_pci, k_host_compilers, k_components, k_sources, k_compat, k_products, "
      "k_flat_archives,\n"
      "                             k_product_manifests, k_elsewhere}};\n\n"
      "}}  // namespace\n\nconst Registry& builtin() {{ return k_builtin; }}\n\n}}  // namespace cudaenv::registry\n",
      quoted(registry.date));
  return out;
}

int complain(std::string_view what) {
  fmt::print(stderr, "registry_compile: {}\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return complain("usage: registry_compile FOLDER OUTPUT.cpp");
  registry::Files files;
  for (const std::string_view name : registry::k_file_names) {
    std::ifstream in(fmt::format("{}/{}", argv[1], name), std::ios::binary);
    if (!in) return complain(fmt::format("cannot read {}/{}", argv[1], name));
    files.emplace(name, std::string(std::istreambuf_iterator<char>(in), {}));
  }
  const auto tables = registry::load(files);
  if (!tables) return complain(tables.error().message);

  std::ofstream out(argv[2], std::ios::binary);
  out << source_file((*tables)->view());
  out.close();
  if (!out) return complain(fmt::format("cannot write {}", argv[2]));
  return 0;
}
