// SPDX-License-Identifier: Apache-2.0
#include "redist/merge.hpp"

#include <algorithm>
#include <list>

#include <sys/stat.h>

#include "core/registry_lookup.hpp"
#include "redist/digest.hpp"
#include "registry/builtin.hpp"
#include "scratch.hpp"
#include "tar_file.hpp"

namespace cudaenv::redist {
namespace {

class Merge : public testing::Test {
 protected:
  // Unpacks an archive of these members and merges it as that component.
  Result<void> add(const std::string& name, std::vector<test::Member> members) {
    for (test::Member& member : members) member.name = "top/" + member.name;
    test::write_tar(m_scratch / "archive.tar", members);
    const base::Path from = m_scratch.directory("unpacked");
    std::string_view left = m_bytes = test::content_of(m_scratch / "archive.tar");
    const ReadBytes read = [&](std::span<char> buffer) -> Result<std::size_t> {
      const std::size_t count = left.copy(buffer.data(), buffer.size());
      left.remove_prefix(count);
      return count;
    };
    const auto entries = unpack(read, {"archive.tar", from});
    if (!entries) return fail(entries.error());
    m_components.push_back({name, "Name of " + name, "", "", "1.2.3", {}});
    const core::PlannedComponent planned{&m_components.back(), {}, core::find_component(registry::builtin(), name)};
    auto added = m_merger.add(planned, *entries, from);
    EXPECT_TRUE(base::remove_tree(from));
    return added;
  }
  Result<void> finish(TreeMerger::ExpectCompiler expect = TreeMerger::ExpectCompiler::no) {
    core::ComponentPlan plan;
    for (const core::Component& component : m_components) plan.components.push_back({&component, {}, nullptr});
    return m_merger.finish({12, 8, 1}, plan, expect);
  }
  std::string content(std::string_view path) const { return test::content_of(m_tree / path); }
  base::EntryKind kind(std::string_view path) const { return base::entry_kind(m_tree / path); }

  static void expect_clash(const Result<void>& added, std::string_view path, std::string_view first,
                           std::string_view second) {
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, ErrorKind::integrity);
    for (const std::string_view part : {path, first, second})
      EXPECT_NE(added.error().message.find(part), std::string::npos) << part << " in " << added.error().message;
    EXPECT_TRUE(added.error().hint.starts_with("cudaenv install 12.8.1 --without ")) << added.error().hint;
  }

  std::string m_bytes;
  test::Scratch m_scratch;
  base::Path m_tree = m_scratch.directory("tree");
  TreeMerger m_merger{m_tree, "x86_64-linux", "cudaenv install 12.8.1"};
  std::list<core::Component> m_components;
};

TEST_F(Merge, two_components_share_directories) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("bin/nvcc", "n", 0755), test::file("include/a.h", "a")}));
  ASSERT_TRUE(add("cuda_cudart", {test::file("include/b.h", "b"), test::file("lib/libcudart.so.12", "c")}));
  EXPECT_EQ(content("bin/nvcc"), "n");
  EXPECT_EQ(content("include/a.h"), "a");
  EXPECT_EQ(content("include/b.h"), "b");
  EXPECT_TRUE(base::executable_exists(m_tree / "bin/nvcc"));
}

TEST_F(Merge, directories_are_open_to_others_under_any_umask) {
  const mode_t former = ::umask(077);
  ASSERT_TRUE(add("cuda_nvcc", {test::directory("bin", 0700), test::file("bin/nvcc", "n", 0755)}));
  ::umask(former);
  struct stat info = {};
  ASSERT_EQ(::stat((m_tree / "bin").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755u);
}

TEST_F(Merge, same_file_twice_is_fine) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("include/a.h", "same"), test::link("include/l.h", "a.h")}));
  ASSERT_TRUE(add("cuda_cudart", {test::file("include/a.h", "same"), test::link("include/l.h", "a.h")}));
  ASSERT_TRUE(finish());
  const auto files = m_merger.take_files();
  EXPECT_EQ(std::count_if(files.begin(), files.end(), [](const auto& file) { return file.path == "include/a.h"; }), 1);
}

TEST_F(Merge, ARC_clash_of_two_contents_names_both_components) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("include/a.h", "one")}));
  expect_clash(add("cuda_cudart", {test::file("include/a.h", "two")}), "include/a.h", "cuda_nvcc", "cuda_cudart");
  EXPECT_EQ(content("include/a.h"), "one");
}

TEST_F(Merge, clash_of_file_and_directory) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("bin/x", "file")}));
  expect_clash(add("cuda_cudart", {test::file("bin/x/y", "below")}), "bin/x", "cuda_nvcc", "cuda_cudart");
}

TEST_F(Merge, clash_of_directory_and_file) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("bin/x/y", "below")}));
  expect_clash(add("cuda_cudart", {test::file("bin/x", "file")}), "bin/x", "cuda_nvcc", "cuda_cudart");
}

TEST_F(Merge, clash_of_link_and_directory_never_leads_elsewhere) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("real/x"), test::link("bin", "real")}));
  expect_clash(add("cuda_cudart", {test::file("bin/y", "y")}), "bin", "cuda_nvcc", "cuda_cudart");
  EXPECT_EQ(kind("real/y"), base::EntryKind::absent);
}

TEST_F(Merge, clash_of_two_links) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("a"), test::file("b"), test::link("l", "a")}));
  expect_clash(add("cuda_cudart", {test::file("b"), test::link("l", "b")}), "l", "cuda_nvcc", "cuda_cudart");
}

TEST_F(Merge, links_of_other_layouts_give_way_to_ours) {
  ASSERT_TRUE(
      add("cuda_nvcc",
          {test::file("targets/x86_64-linux/lib/liba.a", "a"), test::file("targets/x86_64-linux/include/a.h", "h"),
           test::link("lib64", "targets/x86_64-linux/lib"), test::link("include", "targets/x86_64-linux/include")}));
  ASSERT_TRUE(add("cuda_cudart", {test::file("lib/libb.a", "b"), test::file("lib64/libc.a", "c")}));
  ASSERT_TRUE(finish());
  EXPECT_EQ(content("lib/liba.a"), "a");
  EXPECT_EQ(content("lib/libc.a"), "c");
  EXPECT_EQ(kind("lib64"), base::EntryKind::link);
  EXPECT_EQ(base::link_target(m_tree / "lib64"), base::Path("lib"));
  EXPECT_EQ(content("targets/x86_64-linux/lib/libb.a"), "b");
  EXPECT_EQ(content("targets/x86_64-linux/include/a.h"), "h");
}

TEST_F(Merge, pc_files_are_relocated_and_the_receipt_knows) {
  ASSERT_TRUE(add("cuda_cudart", {test::file("pkg-config/cudart-12.8.pc",
                                             "cudaroot=/usr/local/cuda-12.8\nlibdir=${cudaroot}/lib64\n", 0444)}));
  ASSERT_TRUE(finish());
  const std::string text = "cudaroot=${pcfiledir}/../..\nlibdir=${cudaroot}/lib64\n";
  EXPECT_EQ(content("lib/pkgconfig/cudart-12.8.pc"), text);
  EXPECT_EQ(content("lib/pkgconfig/cudart.pc"), text);
  EXPECT_EQ(content("pkg-config/cudart.pc"), text);
  const auto files = m_merger.take_files();
  const auto pc = std::find_if(files.begin(), files.end(),
                               [](const auto& file) { return file.path == "lib/pkgconfig/cudart-12.8.pc"; });
  ASSERT_NE(pc, files.end());
  EXPECT_EQ(pc->sha256, sha256_of(text));
  EXPECT_EQ(pc->size, text.size());
  EXPECT_EQ(pc->mode, 0444u);
  EXPECT_EQ(pc->component, "cuda_cudart");
}

TEST_F(Merge, version_json_names_release_and_components) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("bin/nvcc", "n")}));
  ASSERT_TRUE(finish());
  EXPECT_NE(content("version.json").find("\"12.8.1\""), std::string::npos);
  EXPECT_NE(content("version.json").find("\"cuda_nvcc\""), std::string::npos);
}

TEST_F(Merge, licences_of_two_components_stay_apart) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("LICENSE", "one")}));
  ASSERT_TRUE(add("cuda_cudart", {test::file("LICENSE", "two")}));
  EXPECT_EQ(content("share/licenses/cuda_nvcc/LICENSE"), "one");
  EXPECT_EQ(m_merger.license_digest("cuda_cudart"), sha256_of("two"));
  EXPECT_EQ(m_merger.license_digest("libnvvm"), "");
}

TEST_F(Merge, DL_04_libcuda_of_a_driver_is_never_among_the_libraries) {
  ASSERT_TRUE(add("nvidia_driver", {test::file("lib/libcuda.so.1", "driver")}));
  ASSERT_TRUE(finish());
  EXPECT_EQ(kind("lib"), base::EntryKind::absent);
  EXPECT_EQ(content("extras/nvidia_driver/lib/libcuda.so.1"), "driver");
}

TEST_F(Merge, DL_03_compiler_that_is_not_whole_is_refused) {
  ASSERT_TRUE(add("cuda_nvcc", {test::file("bin/nvcc", "n", 0755)}));
  const auto finished = finish(TreeMerger::ExpectCompiler::yes);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::integrity);
  EXPECT_NE(test::told(finished.error()).find("nvvm/bin/cicc"), std::string::npos);
  EXPECT_EQ(test::told(finished.error()).find("bin/nvcc,"), std::string::npos);
}

}  // namespace
}  // namespace cudaenv::redist
