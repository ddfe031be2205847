// SPDX-License-Identifier: Apache-2.0
#include "core/layout.hpp"

#include <filesystem>

#include "base/json.hpp"
#include "core/registry_lookup.hpp"
#include "named_rows.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::core {
namespace {

constexpr std::string_view k_target = "x86_64-linux";

// --- Where a file goes ---

struct PathRow {
  const char* name;
  const char* component;
  const char* path;
  const char* installed;
};

class InstalledPath : public testing::TestWithParam<PathRow> {};

TEST_P(InstalledPath, is_the_one_place_for_it) {
  const PathRow& row = GetParam();
  Component component;
  component.name = row.component;
  const PlannedComponent planned{&component, {}, find_component(registry::builtin(), row.component)};
  EXPECT_TRUE(is_for_toolkit(row.path, planned));
  EXPECT_EQ(installed_path(row.path, planned, k_target), row.installed);
}

constexpr PathRow k_path_rows[] = {
    {"program", "cuda_nvcc", "bin/nvcc", "bin/nvcc"},
    {"header", "cuda_cudart", "include/cuda_runtime.h", "include/cuda_runtime.h"},
    {"library", "libcublas", "lib/libcublas.so.12", "lib/libcublas.so.12"},
    {"stub", "libcublas", "lib/stubs/libcublas.so", "lib/stubs/libcublas.so"},
    {"library_of_lib64", "cuda_nvcc", "lib64/libx.so", "lib/libx.so"},
    {"nvvm_keeps_its_lib64", "libnvvm", "nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so"},
    {"library_of_our_target", "cuda_cudart", "targets/x86_64-linux/lib/libcudart.so", "lib/libcudart.so"},
    {"header_of_our_target", "cuda_cudart", "targets/x86_64-linux/include/a/b.h", "include/a/b.h"},
    {"other_target_stays", "cuda_cudart", "targets/sbsa-linux/lib/libx.so", "targets/sbsa-linux/lib/libx.so"},
    {"pc_file", "cuda_cudart", "pkg-config/cudart-12.8.pc", "lib/pkgconfig/cudart-12.8.pc"},
    {"pc_file_of_another_folder", "cuda_cudart", "pkgconfig/cuda-12.8.pc", "lib/pkgconfig/cuda-12.8.pc"},
    {"licence", "cuda_nvcc", "LICENSE", "share/licenses/cuda_nvcc/LICENSE"},
    {"licence_as_text", "libcublas", "LICENSE.txt", "share/licenses/libcublas/LICENSE.txt"},
    {"eula", "nsight_compute", "EULA.txt", "share/licenses/nsight_compute/EULA.txt"},
    {"licence_further_down_stays", "nsight_compute", "nsight-compute/LICENSE", "nsight-compute/LICENSE"},
    {"driver_stays_apart", "nvidia_driver", "lib/libcuda.so.1", "extras/nvidia_driver/lib/libcuda.so.1"},
    {"licence_of_a_driver", "nvidia_driver", "LICENSE", "share/licenses/nvidia_driver/LICENSE"},
    {"component_the_registry_does_not_know", "cuda_future", "lib64/libx.so", "lib/libx.so"},
    {"similar_name_stays", "cuda_nvcc", "lib64x/y", "lib64x/y"},
};

INSTANTIATE_TEST_SUITE_P(Rows, InstalledPath, testing::ValuesIn(k_path_rows), test::RowName());

// --- Other products ---

struct ProductPathRow {
  const char* name;
  const char* path;
  const char* installed;  // null: not for this toolkit
  const char* lib_directory = "";
  const char* place = "";
};

class InstalledProductPath : public testing::TestWithParam<ProductPathRow> {};

TEST_P(InstalledProductPath, is_among_the_toolkits_own_and_never_at_its_top) {
  const ProductPathRow& row = GetParam();
  Component component;
  component.name = "libx";
  PlannedComponent planned{&component, {}, nullptr};
  planned.product = "x";
  planned.lib_directory = row.lib_directory;
  planned.place = row.place;
  ASSERT_EQ(is_for_toolkit(row.path, planned), row.installed != nullptr);
  if (row.installed) {
    EXPECT_EQ(installed_path(row.path, planned, k_target), row.installed);
  }
}

constexpr ProductPathRow k_product_path_rows[] = {
    {"header", "include/x.h", "include/x.h"},
    {"library", "lib/libx.so.9", "lib/libx.so.9"},
    {"cmake", "lib/cmake/x/x-config.cmake", "lib/cmake/x/x-config.cmake"},
    {"licence", "LICENSE", "share/licenses/libx/LICENSE"},
    {"version_file", "version.txt", "share/licenses/libx/version.txt"},
    {"library_of_the_major", "lib/12/libx.so.2", "lib/libx.so.2", "12"},
    {"library_of_another_major", "lib/11/libx.so.2", nullptr, "12"},
    {"library_of_another_minor", "lib/11.0/libx.so.2", nullptr, "11"},
    {"library_beside_the_majors", "lib/libx.so.2", "lib/libx.so.2", "12"},
    {"stub_beside_the_majors", "lib/stubs/libx.so", "lib/stubs/libx.so", "12"},
    {"number_that_means_nothing_here", "lib/12/libx.so.2", "lib/12/libx.so.2"},
    {"place", "src/x_samples/Makefile", "extras/x_samples/src/x_samples/Makefile", "", "extras/x_samples"},
    {"licence_in_a_place", "LICENSE", "share/licenses/libx/LICENSE", "", "extras/x_samples"},
};

INSTANTIATE_TEST_SUITE_P(Rows, InstalledProductPath, testing::ValuesIn(k_product_path_rows), test::RowName());

TEST(InstalledTarget, of_a_library_for_one_major_stays_beside_it) {
  Component component;
  component.name = "libx";
  PlannedComponent planned{&component, {}, nullptr};
  planned.product = "x";
  planned.lib_directory = "12";
  EXPECT_EQ(installed_target("lib/12/libx.so", "libx.so.2", planned, k_target), "libx.so.2");
  EXPECT_EQ(installed_target("lib/cmake/x/libx.so", "../../12/libx.so", planned, k_target), "../../libx.so");
}

TEST(InstalledTarget, follows_what_was_moved) {
  const auto target = [](const char* path, const char* archived) {
    Component component;
    component.name = "cuda_cudart";
    const PlannedComponent planned{&component, {}, find_component(registry::builtin(), component.name)};
    return installed_target(path, archived, planned, k_target);
  };
  EXPECT_EQ(target("lib/liba.so", "liba.so.1"), "liba.so.1");
  EXPECT_EQ(target("lib64/liba.so", "liba.so.1"), "liba.so.1");
  EXPECT_EQ(target("bin/a", "../lib64/a"), "../lib/a");
  EXPECT_EQ(target("targets/x86_64-linux/lib/liba.so", "../../../lib/libb.so"), "libb.so");
  EXPECT_EQ(target("pkg-config/a.pc", "../include/a.h"), "../../include/a.h");
}

// --- Links ---

using Paths = std::vector<std::string>;
using Links = std::vector<LinkToMake>;

Tree tree_of(const Paths& files, const Links& links = {}) {
  Tree tree;
  for (const std::string& path : files) tree.insert(path);
  for (const LinkToMake& link : links) tree.insert(link.path);
  return tree;
}

struct LinkRow {
  const char* name;
  Paths files;
  Links existing;
  Links planned;
};

class PlanLinks : public testing::TestWithParam<LinkRow> {};

TEST_P(PlanLinks, are_relative_new_and_lead_to_something) {
  const LinkRow& row = GetParam();
  const Tree tree = tree_of(row.files, row.existing);
  const Links links = plan_links(tree, k_target);
  EXPECT_EQ(links, row.planned);
  for (const LinkToMake& link : links) {
    EXPECT_FALSE(tree.contains(link.path));
    EXPECT_FALSE(link.target.starts_with('/'));
    const std::string real = (std::filesystem::path(link.path).parent_path() / link.target).lexically_normal();
    const auto below = tree.lower_bound(real);
    EXPECT_TRUE(below != tree.end() && (*below == real || below->starts_with(real + "/"))) << real;
  }
}

const LinkToMake k_lib64{"lib64", "lib"};
const LinkToMake k_target_lib{"targets/x86_64-linux/lib", "../../lib"};
const LinkToMake k_target_include{"targets/x86_64-linux/include", "../../include"};

const LinkRow k_link_rows[] = {
    {"nothing", {}, {}, {}},
    {"programs_alone", {"bin/nvcc"}, {}, {}},
    {"libraries", {"lib/liba.so"}, {}, {k_lib64, k_target_lib}},
    {"headers", {"include/a.h"}, {}, {k_target_include}},
    {"lib64_is_a_link_already", {"lib/liba.so"}, {{"lib64", "lib"}}, {k_target_lib}},
    {"lib64_is_a_directory_already", {"lib/liba.so", "lib64/libb.so"}, {}, {k_target_lib}},
    {"target_is_there_already", {"lib/liba.so", "targets/x86_64-linux/lib/x"}, {}, {k_lib64}},
    {"similar_name_is_not_lib", {"lib-x/liba.so"}, {}, {}},
    {"cupti",
     {"include/cupti.h", "lib/libcupti.so"},
     {},
     {k_lib64,
      k_target_lib,
      k_target_include,
      {"extras/CUPTI/include", "../../include"},
      {"extras/CUPTI/lib64", "../../lib"}}},
    {"cupti_brings_its_own",
     {"include/cupti.h", "extras/CUPTI/include/x.h", "extras/CUPTI/lib64/x.so"},
     {},
     {k_target_include}},
    {"pc_files",
     {"lib/pkgconfig/cuda-12.8.pc", "lib/pkgconfig/cudart-12.8.pc"},
     {},
     {k_lib64,
      k_target_lib,
      {"pkg-config", "lib/pkgconfig"},
      {"lib/pkgconfig/cuda.pc", "cuda-12.8.pc"},
      {"lib/pkgconfig/cudart.pc", "cudart-12.8.pc"}}},
    {"pc_files_without_a_version",
     {"lib/pkgconfig/cudart.pc", "lib/pkgconfig/cudart-12.8.pc", "lib/pkgconfig/my-lib.pc", "lib/pkgconfig/-12.pc",
      "lib/pkgconfig/x-12.txt"},
     {},
     {k_lib64, k_target_lib, {"pkg-config", "lib/pkgconfig"}}},
    {"pc_file_of_two_versions_gets_one_name",
     {"lib/pkgconfig/a-12.8.pc", "lib/pkgconfig/a-12.9.pc"},
     {},
     {k_lib64, k_target_lib, {"pkg-config", "lib/pkgconfig"}, {"lib/pkgconfig/a.pc", "a-12.8.pc"}}},
    {"nsight_tools",
     {"nsight-compute/2025.1.1/ncu", "nsight-compute/2025.1.1/ncu-ui", "nsight-systems/2024.6.2/bin/nsys"},
     {},
     {{"bin/ncu", "../nsight-compute/2025.1.1/ncu"},
      {"bin/ncu-ui", "../nsight-compute/2025.1.1/ncu-ui"},
      {"bin/nsys", "../nsight-systems/2024.6.2/bin/nsys"}}},
    {"nsight_brings_its_own_program", {"bin/ncu", "nsight-compute/2025.1.1/ncu"}, {}, {}},
    {"nsight_of_two_versions_gets_one_name",
     {"nsight-compute/2024.1/ncu", "nsight-compute/2025.1/ncu"},
     {},
     {{"bin/ncu", "../nsight-compute/2024.1/ncu"}}},
};

INSTANTIATE_TEST_SUITE_P(Rows, PlanLinks, testing::ValuesIn(k_link_rows), test::RowName());

// --- .pc files ---

struct PcRow {
  const char* name;
  std::string_view text;
  std::string_view relocated;
};

class RelocatedPc : public testing::TestWithParam<PcRow> {};

TEST_P(RelocatedPc, names_no_place_of_its_own) { EXPECT_EQ(relocated_pc(GetParam().text), GetParam().relocated); }

constexpr PcRow k_pc_rows[] = {
    {"cudart",
     "cudaroot=/usr/local/cuda-12.8\nlibdir=${cudaroot}/targets/x86_64-linux/lib\nincludedir=${cudaroot}/targets/"
     "x86_64-linux/include\n\n"
     "Name: cudart\nDescription: CUDA Runtime Library\nVersion: 12.8\nLibs: -L${libdir} -lcudart\nCflags: "
     "-I${includedir}\n",
     "cudaroot=${pcfiledir}/../..\nlibdir=${cudaroot}/targets/x86_64-linux/lib\nincludedir=${cudaroot}/targets/"
     "x86_64-linux/include\n\n"
     "Name: cudart\nDescription: CUDA Runtime Library\nVersion: 12.8\nLibs: -L${libdir} -lcudart\nCflags: "
     "-I${includedir}\n"},
    {"cuda_with_its_stub",
     "cudaroot=/usr/local/cuda-12.8\nlibdir=/usr/local/cuda-12.8/lib64/stubs\nName: cuda\nLibs: "
     "-L/usr/local/cuda-12.8/lib64/stubs -lcuda\n",
     "cudaroot=${pcfiledir}/../..\nlibdir=${pcfiledir}/../../lib64/stubs\nName: cuda\nLibs: "
     "-L${pcfiledir}/../../lib64/stubs -lcuda\n"},
    {"blanks_around", "prefix = /opt/cuda \nlibdir = /opt/cuda/lib\t\n",
     "prefix = ${pcfiledir}/../.. \nlibdir = ${pcfiledir}/../../lib\t\n"},
    {"slash_at_the_end", "cudaroot=/opt/cuda/\nlibdir=/opt/cuda/lib\n",
     "cudaroot=${pcfiledir}/../../\nlibdir=${pcfiledir}/../../lib\n"},
    {"dos_lines", "cudaroot=/opt/cuda\r\nlibdir=/opt/cuda/lib\r\n",
     "cudaroot=${pcfiledir}/../..\r\nlibdir=${pcfiledir}/../../lib\r\n"},
    {"no_line_end", "cudaroot=/opt/cuda", "cudaroot=${pcfiledir}/../.."},
    {"longer_name_is_another_place", "cudaroot=/opt/cuda\nx=/opt/cuda-12.8/lib\n",
     "cudaroot=${pcfiledir}/../..\nx=/opt/cuda-12.8/lib\n"},
    {"relative_already", "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n",
     "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n"},
    {"no_root", "libdir=/usr/local/cuda/lib64\n", "libdir=/usr/local/cuda/lib64\n"},
    {"root_of_everything", "prefix=/\nlibdir=/lib\n", "prefix=/\nlibdir=/lib\n"},
    {"empty", "", ""},
};

INSTANTIATE_TEST_SUITE_P(Rows, RelocatedPc, testing::ValuesIn(k_pc_rows), test::RowName());

TEST(RelocatedPcFile, twice_is_once) {
  for (const PcRow& row : k_pc_rows) EXPECT_EQ(relocated_pc(row.relocated), row.relocated) << row.name;
}

// --- A whole compiler ---

const Paths k_compiler = {"bin/nvcc",          "bin/nvcc.profile",       "bin/ptxas",
                          "nvvm/bin/cicc",     "nvvm/libdevice/x.bc",    "include/crt/host_config.h",
                          "include/nv/target", "include/cuda_runtime.h", "lib/libcudart_static.a",
                          "lib/libcudadevrt.a"};

TEST(MissingCompilerFiles, DL_03_none_in_the_layout_of_12_or_13) {
  Tree tree = tree_of(k_compiler);
  EXPECT_EQ(missing_compiler_files(tree), Paths{});
  tree.erase("include/nv/target");
  tree.insert("include/cccl/nv/target");
  EXPECT_EQ(missing_compiler_files(tree), Paths{});
}

TEST(MissingCompilerFiles, DL_03_each_one_is_named) {
  for (const std::string& path : k_compiler) {
    Tree tree = tree_of(k_compiler);
    tree.erase(path);
    const Paths missing = missing_compiler_files(tree);
    ASSERT_EQ(missing.size(), 1u) << path;
    EXPECT_NE(path.find(missing[0]), std::string::npos) << missing[0];
  }
  EXPECT_EQ(missing_compiler_files({}).size(), k_compiler.size());
}

TEST(VersionJson, has_the_release_and_each_component) {
  const auto document = base::parse_json(version_json({12, 8, 1}, {{"cuda_nvcc", "CUDA NVCC", "12.8.93"}}));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find("cuda")->text("version"), "12.8.1");
  EXPECT_EQ(document->find("cuda_nvcc")->text("name"), "CUDA NVCC");
  EXPECT_EQ(document->find("cuda_nvcc")->text("version"), "12.8.93");
}

}  // namespace
}  // namespace cudaenv::core
