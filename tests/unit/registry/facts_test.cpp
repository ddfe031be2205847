// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "base/toml.hpp"
#include "core/registry_lookup.hpp"
#include "registry/builtin.hpp"

// Our tables against the collection of facts they were made from, and against NVIDIA's manifests, where these
// lie beside the source tree: in $CUDAENV_SHARED, or where the build was told (CUDAENV_SHARED_DIR).

namespace cudaenv {
namespace {

std::filesystem::path shared() {
  if (const char* folder = std::getenv("CUDAENV_SHARED")) return folder;
#ifdef CUDAENV_SHARED_DIR
  return CUDAENV_SHARED_DIR;
#else
  return {};
#endif
}

std::optional<std::string> text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const base::Value::Array& rows_of(const base::Value& root, std::string_view name) {
  static const base::Value::Array k_none;
  const base::Value* rows = root.find(name);
  return rows && rows->as_array() ? *rows->as_array() : k_none;
}

core::DottedVersion dotted(std::string_view text) {
  return core::parse_dotted_version(text).value_or(core::DottedVersion{});
}

#define READ_OR_SKIP(name, path)                                                  \
  const auto name##_text = text_of(shared() / (path));                            \
  if (!name##_text) GTEST_SKIP() << "no " << (path) << " beside the source tree"; \
  const auto name = base::parse_toml(*name##_text);                               \
  ASSERT_TRUE(name) << name.error().message

TEST(Facts, EveryToolkitIsARelease) {
  READ_OR_SKIP(toolkits, "facts/toolkits.toml");
  for (const base::Value& toolkit : rows_of(*toolkits, "toolkit")) {
    const auto version = core::parse_version(toolkit.text("version"));
    ASSERT_TRUE(version) << toolkit.text("version");
    const core::ReleaseRow* row = core::find_release(registry::builtin(), *version);
    ASSERT_NE(row, nullptr) << toolkit.text("version");
    EXPECT_EQ(row->minimum_driver, dotted(toolkit.text("driver_linux"))) << toolkit.text("version");
    EXPECT_EQ(row->manifest_sha256, toolkit.text("manifest_sha256")) << toolkit.text("version");
    EXPECT_EQ(row->nvcc_version, dotted(toolkit.text("nvcc_version"))) << toolkit.text("version");
    EXPECT_EQ(row->cudart_version, dotted(toolkit.text("cudart_version"))) << toolkit.text("version");
    EXPECT_EQ(row->released, toolkit.text("release_date")) << toolkit.text("version");
  }
}

TEST(Facts, EveryMajorHasItsMinimumDrivers) {
  READ_OR_SKIP(toolkits, "facts/toolkits.toml");
  for (const base::Value& major : rows_of(*toolkits, "major")) {
    const auto number = static_cast<std::uint32_t>(*major.find("major")->as_integer());
    const core::MajorRow* row = core::find_major(registry::builtin(), number);
    ASSERT_NE(row, nullptr) << number;
    EXPECT_EQ(row->minimum_driver, dotted(major.text("min_driver_linux"))) << number;
    EXPECT_EQ(row->minimum_windows_driver, dotted(major.text("min_driver_windows"))) << number;
  }
}

TEST(Facts, EveryDriverBranchIsThere) {
  READ_OR_SKIP(toolkits, "facts/toolkits.toml");
  for (const base::Value& branch : rows_of(*toolkits, "driver_branch")) {
    const auto number = static_cast<std::uint32_t>(*branch.find("branch")->as_integer());
    const core::DriverBranchRow* row = core::find_driver_branch(registry::builtin(), number);
    ASSERT_NE(row, nullptr) << number;
    const core::DottedVersion cuda = dotted(branch.text("cuda"));
    EXPECT_EQ(std::pair(row->cuda_major, row->cuda_minor), std::pair(cuda[0], cuda[1])) << number;
  }
}

TEST(Facts, EveryMinorTargetsTheSameArchitectures) {
  READ_OR_SKIP(architectures, "facts/architectures.toml");
  for (const base::Value& toolkit : rows_of(*architectures, "toolkit_arch")) {
    const core::DottedVersion minor = dotted(toolkit.text("minor"));
    const auto* row = core::architectures_of(registry::builtin(), {minor[0], minor[1], 0});
    ASSERT_NE(row, nullptr) << toolkit.text("minor");
    std::vector<std::string> base;
    for (const std::uint16_t code : row->base) base.push_back(std::to_string(code));
    std::vector<std::string> expected;
    for (const base::Value& code : rows_of(toolkit, "base")) expected.push_back(*code.as_string());
    EXPECT_EQ(base, expected) << toolkit.text("minor");
    EXPECT_EQ(row->ptx_isa, dotted(toolkit.text("ptx_isa"))) << toolkit.text("minor");
  }
}

TEST(Facts, EveryGpuNameIsThere) {
  READ_OR_SKIP(gpus, "facts/gpus.toml");
  for (const base::Value& gpu : rows_of(*gpus, "gpu")) {
    const core::DottedVersion capability = dotted(gpu.text("cc"));
    const auto rows = core::gpus_named(registry::builtin(), gpu.text("name"));
    const bool is_data_center = gpu.text("class") == "data center" || gpu.text("class") == "DGX";
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const core::GpuRow& row) {
      return row.capability.major == capability[0] && row.capability.minor == capability[1] &&
             row.is_data_center == is_data_center;
    })) << gpu.text("name");
  }
}

TEST(Facts, EveryComponentHasItsClass) {
  READ_OR_SKIP(components, "facts/components.toml");
  for (const base::Value& component : rows_of(*components, "component")) {
    const core::ComponentRow* row = core::find_component(registry::builtin(), component.text("name"));
    ASSERT_NE(row, nullptr) << component.text("name");
    EXPECT_EQ(core::to_text(row->component_class), component.text("class")) << component.text("name");
    EXPECT_EQ(row->in_default, *component.find("install_default")->as_bool()) << component.text("name");
  }
}

TEST(Facts, EveryComponentOfAManifestIsKnown) {
  const auto folder = shared() / "redist-manifests" / "cuda";
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) GTEST_SKIP() << "no redist-manifests beside the source tree";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto text = text_of(entry.path());
    ASSERT_TRUE(text) << entry.path();
    const auto manifest = base::parse_json(*text);
    ASSERT_TRUE(manifest) << entry.path();
    for (const auto& [name, component] : *manifest->as_object()) {
      if (!component.as_object()) continue;
      EXPECT_NE(core::find_component(registry::builtin(), name), nullptr) << name << " of " << entry.path();
    }
  }
}

}  // namespace
}  // namespace cudaenv
