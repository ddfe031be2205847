// SPDX-License-Identifier: Apache-2.0
#include "registry/load_tables.hpp"

#include <fmt/format.h>

#include <array>

#include "core/registry_lookup.hpp"

namespace cudaenv::registry {
namespace {

using Columns = std::span<const std::string_view>;

// Appends what `read` makes of each row of the array `table`.
template <class Out, class Read>
Result<void> read_rows(const File& file, std::string_view table, Columns columns, Arena& arena, std::vector<Out>& out,
                       Read read) {
  const base::Value* value = file.root.find(table);
  const auto* rows = value ? value->as_array() : nullptr;
  if (!rows || rows->empty()) return fail(fault_in(file.name, fmt::format("has no array {}", table)));
  for (const base::Value& element : *rows) {
    Row row(file, arena, table, element, columns);
    out.push_back(read(row));
    CUDAENV_CHECK(row.finish());
  }
  return {};
}

template <class T>
std::span<const T> kept(std::deque<std::vector<T>>& lists, std::vector<T> list) {
  return lists.emplace_back(std::move(list));
}

// "90a" and "100f" as pairs; anything else is a fault of the row.
std::vector<core::SuffixedArchitecture> suffixed(Row& row, std::string_view key) {
  std::vector<core::SuffixedArchitecture> forms;
  for (const std::string_view text : row.texts_if_there(key)) {
    const auto code = core::parse_dotted_version(text.substr(0, text.size() - 1), core::LeadingZero::refused);
    const char suffix = text.back();
    if (!code || code->count != 1 || code->part[0] > 999 || (suffix != 'a' && suffix != 'f')) {
      row.fault(fmt::format("{} holds \"{}\", not an architecture with a or f", key, text));
      return {};
    }
    forms.push_back({static_cast<std::uint16_t>(code->part[0]), suffix});
  }
  for (std::size_t i = 1; i < forms.size(); ++i)
    if (!(forms[i - 1] < forms[i])) row.fault(fmt::format("{} is not ascending", key));
  return forms;
}

}  // namespace

Result<void> read_releases(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_columns{"release"};
  return read_rows(file, "release", k_columns, tables.arena, tables.releases, [](Row& row) {
    row.confidence_if_there();
    return core::ReleaseRow{.release = row.release("release"),
                            .released = row.date_if_there("date"),
                            .minimum_driver = row.version("driver"),
                            .nvcc_version = row.version_if_there("nvcc"),
                            .cudart_version = row.version_if_there("cudart"),
                            .has_archives = row.flag("archives"),
                            .manifest_sha256 = row.digest_if_there("manifest_sha256"),
                            .source = row.source(),
                            .is_preview = row.flag_if_there("preview")};
  });
}

Result<void> read_drivers(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_major_columns{"major"};
  CUDAENV_CHECK(read_rows(file, "major", k_major_columns, tables.arena, tables.majors, [](Row& row) {
    const core::MajorRow major{.major = row.number("major"),
                               .minor_version_compatible = row.flag("minor_version_compatible"),
                               .minimum_driver = row.version_if_there("driver"),
                               .source = row.source(),
                               .minimum_windows_driver = row.version_if_there("windows_driver")};
    if (major.minor_version_compatible && !major.minimum_driver) row.fault("has no driver");
    return major;
  }));
  static constexpr std::array<std::string_view, 1> k_branch_columns{"branch"};
  CUDAENV_CHECK(read_rows(file, "branch", k_branch_columns, tables.arena, tables.driver_branches, [](Row& row) {
    const auto [cuda_major, cuda_minor] = row.minor("cuda");
    return core::DriverBranchRow{.branch = row.number("branch"),
                                 .cuda_major = cuda_major,
                                 .cuda_minor = cuda_minor,
                                 .oldest_gpu = row.capability("oldest_gpu"),
                                 .certain = row.confidence_if_there().empty(),
                                 .source = row.source()};
  }));
  static constexpr std::array<std::string_view, 1> k_compat_columns{"minor"};
  return read_rows(file, "compat", k_compat_columns, tables.arena, tables.compat, [&](Row& row) {
    const auto [major, minor] = row.minor("minor");
    const core::CompatRow compat{.major = major,
                                 .minor = minor,
                                 .branches = kept(tables.code_lists, row.branches("branches")),
                                 .source = row.source()};
    row.confidence_if_there();
    return compat;
  });
}

Result<void> read_architectures(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_columns{"minor"};
  return read_rows(file, "toolkit", k_columns, tables.arena, tables.architectures, [&](Row& row) {
    const auto [major, minor] = row.minor("minor");
    row.confidence_if_there();
    const core::ToolkitArchitecturesRow toolkit{
        .major = major,
        .minor = minor,
        .base = kept(tables.code_lists, row.codes_if_there("base")),
        .deprecated = kept(tables.code_lists, row.codes_if_there("deprecated")),
        .default_architecture = static_cast<std::uint16_t>(row.number_if_there("default")),
        .ptx_isa = row.version("ptx_isa"),
        .source = row.source(),
        .suffixed = kept(tables.suffixed_lists, suffixed(row, "suffixed"))};
    if (toolkit.base.empty()) row.fault("has no base architectures");
    return toolkit;
  });
}

Result<void> read_gpus(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_chip_columns{"capability"};
  CUDAENV_CHECK(read_rows(file, "chip", k_chip_columns, tables.arena, tables.chips, [](Row& row) {
    row.confidence_if_there();
    row.texts_if_there("chips");
    row.source();
    const core::ChipRow chip{.capability = row.capability("capability"),
                             .generation = row.text("generation"),
                             .last_driver_branch = row.number_if_there("last_driver_branch"),
                             .first_driver_branch = row.number_if_there("first_driver_branch"),
                             .former_capability = row.capability_if_there("former_capability"),
                             .is_tegra = row.flag_if_there("integrated")};
    if (chip.is_tegra && (chip.first_driver_branch != 0 || chip.last_driver_branch != 0))
      row.fault("is integrated, and yet has driver branches");
    return chip;
  }));
  static constexpr std::array<std::string_view, 4> k_gpu_columns{"name", "capability", "source", "class"};
  return read_rows(file, "gpu", k_gpu_columns, tables.arena, tables.gpus, [](Row& row) {
    row.source();
    const std::string_view product_class = row.text_if_there("class");
    if (!product_class.empty() && product_class != "data-center")
      row.fault(fmt::format("class is \"{}\", not \"data-center\"", product_class));
    return core::GpuRow{
        .name = row.text("name"), .capability = row.capability("capability"), .is_data_center = !product_class.empty()};
  });
}

Result<void> read_pci_ids(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 4> k_columns{"device", "capability", "name", "source"};
  return read_rows(file, "device", k_columns, tables.arena, tables.pci, [](Row& row) {
    row.source();
    return core::PciRow{
        .device = row.device_id("device"), .capability = row.capability("capability"), .name = row.text("name")};
  });
}

Result<void> read_host_compilers(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_columns{"minor"};
  return read_rows(file, "minor", k_columns, tables.arena, tables.host_compilers, [](Row& row) {
    const auto [major, minor] = row.minor("minor");
    row.confidence_if_there();
    return core::HostCompilerRow{.major = major,
                                 .minor = minor,
                                 .newest_gcc = static_cast<std::uint16_t>(row.number_if_there("gcc")),
                                 .newest_clang = static_cast<std::uint16_t>(row.number_if_there("clang")),
                                 .source = row.source()};
  });
}

Result<void> read_components(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_columns{"name"};
  return read_rows(file, "component", k_columns, tables.arena, tables.components, [&](Row& row) {
    const std::string_view class_text = row.text("class");
    const auto component_class = core::parse_component_class(class_text);
    if (!component_class) row.fault(fmt::format("class \"{}\" does not exist", class_text));
    return core::ComponentRow{.name = row.text("name"),
                              .component_class = component_class.value_or(core::ComponentClass::driver),
                              .in_minimal = row.flag_if_there("minimal"),
                              .in_default = row.flag_if_there("default"),
                              .needs = kept(tables.name_lists, row.texts_if_there("needs")),
                              .renamed_from = row.text_if_there("renamed_from"),
                              .summary = row.text("summary"),
                              .source = row.source()};
  });
}

Result<void> read_products(const File& file, Tables& tables) {
  static constexpr std::array<std::string_view, 1> k_columns{"name"};
  CUDAENV_CHECK(read_rows(file, "product", k_columns, tables.arena, tables.products, [&](Row& row) {
    const core::ProductRow product{.name = row.text("name"),
                                   .also = kept(tables.name_lists, row.texts_if_there("also")),
                                   .folder = row.text("folder"),
                                   .components = kept(tables.name_lists, row.texts_if_there("components")),
                                   .place = row.text_if_there("place"),
                                   .any_cuda = row.flag_if_there("any_cuda"),
                                   .summary = row.text("summary"),
                                   .source = row.source()};
    if (product.components.empty()) row.fault("has no components");
    return product;
  }));
  static constexpr std::array<std::string_view, 1> k_flat_columns{"product"};
  CUDAENV_CHECK(read_rows(file, "flat", k_flat_columns, tables.arena, tables.flat_archives, [&](Row& row) {
    row.confidence_if_there();
    const core::FlatArchivesRow flat{.product = row.text("product"),
                                     .first = row.version("first"),
                                     .last = row.version("last"),
                                     .majors = kept(tables.code_lists, row.majors("cuda")),
                                     .in_lib = row.flag_if_there("in_lib"),
                                     .source = row.source()};
    if (flat.last < flat.first) row.fault("its last version is older than its first");
    return flat;
  }));
  static constexpr std::array<std::string_view, 5> k_manifest_columns{"folder", "version", "sha256", "source",
                                                                      "confidence"};
  CUDAENV_CHECK(read_rows(file, "manifest", k_manifest_columns, tables.arena, tables.product_manifests, [](Row& row) {
    row.confidence_if_there();
    row.version("version");
    return core::ProductManifestRow{.folder = row.text("folder"),
                                    .version = row.text("version"),
                                    .sha256 = row.digest("sha256"),
                                    .source = row.source()};
  }));
  return read_rows(file, "elsewhere", k_columns, tables.arena, tables.elsewhere, [&](Row& row) {
    return core::ElsewhereRow{.name = row.text("name"),
                              .also = kept(tables.name_lists, row.texts_if_there("also")),
                              .how = row.text("how"),
                              .command = row.text("command"),
                              .source = row.source()};
  });
}

}  // namespace cudaenv::registry
