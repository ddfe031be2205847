// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "core/component_plan.hpp"
#include "core/product.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "redist/digest.hpp"
#include "registry/builtin.hpp"

// NVIDIA's own manifests, where copies lie beside the source tree: in $CUDAENV_SHARED, or where the build was told.

namespace cudaenv::core {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const char* shared = std::getenv("CUDAENV_SHARED");
  return fs::path(shared ? shared : CUDAENV_SHARED_DIR) / "redist-manifests";
}

std::vector<fs::path> manifests_in(const fs::path& directory) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<Manifest> read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const auto document = base::parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  if (!document) return fail(document.error());
  return parse_manifest(*document);
}

TEST(GenuineManifests, of_every_product_are_understood) {
  if (!fs::is_directory(folder())) GTEST_SKIP() << "no copies of NVIDIA's manifests beside the source tree";
  std::size_t count = 0;
  for (const auto& product : fs::directory_iterator(folder())) {
    if (!product.is_directory()) continue;
    for (const fs::path& path : manifests_in(product.path())) {
      SCOPED_TRACE(path.lexically_relative(folder()));
      const auto manifest = read(path);
      ASSERT_TRUE(manifest) << manifest.error().message;
      EXPECT_FALSE(manifest->release_date.empty());
      const bool has_archives = std::all_of(manifest->components.begin(), manifest->components.end(),
                                            [](const Component& component) { return !component.platforms.empty(); });
      EXPECT_TRUE(has_archives);
      ++count;
    }
  }
  EXPECT_GE(count, 169u);
}

TEST(GenuineManifests, of_cuda_give_a_whole_compiler_and_no_driver) {
  if (!fs::is_directory(folder() / "cuda")) GTEST_SKIP() << "no copies of NVIDIA's manifests beside the source tree";
  const Registry& registry = registry::builtin();
  std::size_t count = 0;
  for (const fs::path& path : manifests_in(folder() / "cuda")) {
    SCOPED_TRACE(path.filename());
    const auto release = release_of_manifest_name(path.filename().native());
    ASSERT_TRUE(release);
    const auto manifest = read(path);
    ASSERT_TRUE(manifest);
    EXPECT_TRUE(check_label(*manifest, "CUDA", to_text(*release)));
    std::vector<std::string> compiler = {"cuda_nvcc", "cuda_cudart", "cuda_cccl"};
    if (release->major >= 13)
      compiler.insert(compiler.end(), {"cuda_crt", "libnvvm", "libnvptxcompiler", "cuda_culibos"});
    for (const Profile profile : {Profile::minimal, Profile::standard, Profile::full}) {
      SCOPED_TRACE(to_text(profile));
      const auto plan = plan_components(*manifest, registry, *release, "linux-x86_64", {profile, {}, {}});
      ASSERT_TRUE(plan) << plan.error().message;
      for (const std::string& name : compiler) EXPECT_NE(plan->find(name), nullptr) << name;
      EXPECT_EQ(plan->unknown, std::vector<std::string>{});
      for (const PlannedComponent& planned : plan->components) {
        ASSERT_NE(planned.row, nullptr) << planned.component->name;
        EXPECT_TRUE(is_in_full_profile(planned.row->component_class)) << planned.component->name;
        EXPECT_TRUE(planned.archive.relative_path.ends_with(".tar.xz")) << planned.archive.relative_path;
      }
    }
    ++count;
  }
  EXPECT_GE(count, 37u);
}

// Of the published versions of a product, the newest that fits a release.
std::string newest_fit(std::string_view name, const Version& release, std::string_view platform) {
  const Registry& registry = registry::builtin();
  const ProductRow* product = find_product(registry, name);
  std::vector<ProductVersion> published;
  for (const fs::path& path : manifests_in(folder() / product->folder))
    if (auto version = version_of_manifest_name(path.filename().native())) published.push_back(std::move(*version));
  for (const ProductVersion& version : candidates(std::move(published), {std::string(name)})) {
    const auto manifest = read(folder() / product->folder / manifest_name(version.text));
    EXPECT_TRUE(manifest);
    EXPECT_TRUE(check_label(*manifest, product->name, version.text));
    const ProductFit fit = fit_of(*manifest, *product, registry, version.number, release, platform);
    if (!fit.components.empty())
      return version.text + (fit.components.front().lib_directory.empty() ? "" : " lib/") +
             fit.components.front().lib_directory;
  }
  return "";
}

TEST(GenuineManifests, of_products_fit_the_toolkits_cuda) {
  if (!fs::is_directory(folder() / "cudnn")) GTEST_SKIP() << "no copies of NVIDIA's manifests beside the source tree";
  constexpr std::string_view k_x86 = "linux-x86_64";
  constexpr Version k_11{11, 8, 0};
  constexpr Version k_12{12, 8, 1};
  constexpr Version k_13{13, 0, 2};
  EXPECT_EQ(newest_fit("cudnn", k_11, k_x86), "9.10.2");
  EXPECT_EQ(newest_fit("cudnn", k_12, k_x86), "9.14.0");
  EXPECT_EQ(newest_fit("cudnn", k_13, k_x86), "9.14.0");
  EXPECT_EQ(newest_fit("cudnn", k_12, "linux-ppc64le"), "9.0.0");
  EXPECT_EQ(newest_fit("cudnn", k_11, "linux-aarch64"), "");
  EXPECT_EQ(newest_fit("cudnn_samples", k_13, k_x86), "9.14.0");
  EXPECT_EQ(newest_fit("cutensor", k_11, k_x86), "2.2.0 lib/11");
  EXPECT_EQ(newest_fit("cutensor", k_13, k_x86), "2.3.1");
  EXPECT_EQ(newest_fit("cusparselt", k_11, k_x86), "0.4.0");
  EXPECT_EQ(newest_fit("cusparselt", k_12, k_x86), "0.8.1");
  EXPECT_EQ(newest_fit("cuquantum", k_11, k_x86), "25.06.0");
  EXPECT_EQ(newest_fit("cublasmp", k_11, k_x86), "0.2.1");
  EXPECT_EQ(newest_fit("nvjpeg2000", k_13, k_x86), "0.9.0 lib/13");
  EXPECT_EQ(newest_fit("nvpl", k_12, "linux-sbsa"), "25.5");
  EXPECT_EQ(newest_fit("nvpl", k_12, k_x86), "");
  EXPECT_EQ(newest_fit("nvcomp", k_13, k_x86), "5.0.0.6");
  EXPECT_EQ(newest_fit("cudss", k_11, k_x86), "");
}

TEST(GenuineManifests, of_products_are_those_that_are_pinned) {
  if (!fs::is_directory(folder() / "cudnn")) GTEST_SKIP() << "no copies of NVIDIA's manifests beside the source tree";
  const Registry& registry = registry::builtin();
  for (const ProductRow& product : registry.products) {
    if (!fs::is_directory(folder() / product.folder)) continue;
    for (const fs::path& path : manifests_in(folder() / product.folder)) {
      const auto version = version_of_manifest_name(path.filename().native());
      ASSERT_TRUE(version) << path;
      std::ifstream in(path, std::ios::binary);
      const std::string text(std::istreambuf_iterator<char>(in), {});
      EXPECT_EQ(known_digest(registry, product, version->number), redist::sha256_of(text)) << path;
    }
  }
}

}  // namespace
}  // namespace cudaenv::core
