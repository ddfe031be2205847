// SPDX-License-Identifier: Apache-2.0
#include "redist/installer.hpp"

#include <map>

#include <sys/stat.h>

#include "core/version_text.hpp"
#include "registry/builtin.hpp"
#include "small_mirror.hpp"

namespace cudaenv::redist {
namespace {

class Observer final : public InstallObserver {
 public:
  void waiting_for(long) override {}
  void switching(const Error& reason) override { events.push_back("switching: " + reason.message); }
  void progressed(const InstallProgress& progress) override {
    EXPECT_LE(last.received, progress.received);
    EXPECT_LE(last.unpacked, progress.unpacked);
    last = progress;
  }
  void finished(const core::PlannedComponent& component, ComponentOrigin origin) override {
    events.push_back((origin == ComponentOrigin::shared ? "shared " : "fetched ") + component.component->name);
  }
  void stopping() override { events.emplace_back("stopping"); }
  InstallProgress last;
  std::vector<std::string> events;
};

std::vector<test::Member> nvcc_members() {
  return {test::file("LICENSE", "licence"),
          test::file("bin/nvcc", "#!/bin/sh\n", 0755),
          test::file("bin/nvcc.profile", "TOP = ..\n"),
          test::file("bin/ptxas", "p", 0755),
          test::file("nvvm/bin/cicc", "c", 0755),
          test::file("nvvm/libdevice/libdevice.10.bc", "d"),
          test::file("include/crt/host_config.h", "h")};
}

std::vector<test::Member> cudart_members() {
  return {test::directory("lib"),
          test::file("lib/libcudart.so.12.8.90", "so", 0755),
          test::link("lib/libcudart.so.12", "libcudart.so.12.8.90"),
          test::link("lib/libcudart.so", "libcudart.so.12"),
          test::file("lib/libcudart_static.a", "a"),
          test::file("lib/libcudadevrt.a", "d"),
          test::file("lib/stubs/libcuda.so", "stub"),
          test::file("include/cuda_runtime.h", "r"),
          test::file("pkg-config/cudart-12.8.pc", "cudaroot=/usr/local/cuda-12.8\n")};
}

class Installer : public testing::Test {
 protected:
  void SetUp() override {
    m_mirror.add("cuda_nvcc", nvcc_members());
    m_mirror.add("cuda_cudart", cudart_members());
    m_mirror.add("cuda_cccl", {test::file("include/nv/target", "t")});
    m_mirror.write_manifest("12.8.1");
  }

  static InstallRequest request_of(const core::Version& release, const core::ComponentChoice& choice,
                                   const std::string& manifest_sha256, bool replace) {
    InstallRequest request;
    request.release = release;
    request.platform = "linux-x86_64";
    request.choice = choice;
    request.origins[""].version = core::to_text(release);
    request.origins[""].manifest_sha256 = manifest_sha256;
    request.replace = replace;
    return request;
  }
  Result<InstallOutcome> install_it(core::ComponentChoice choice = {}, bool replace = false) {
    const Source source = m_mirror.source();
    const core::Version release{12, 8, 1};
    CUDAENV_TRY(fetched, fetch_manifest(source, release, registry::builtin(), {"any"}));
    CUDAENV_TRY(plan, core::plan_components(fetched.manifest, registry::builtin(), release, "linux-x86_64", choice));
    return install_plan(m_mirror, plan, request_of(release, choice, fetched.sha256, replace));
  }
  Result<InstallOutcome> install_plan(const test::SmallMirror& mirror, const core::ComponentPlan& plan,
                                      InstallRequest request) {
    redist::Origin& origin = request.origins[""];
    origin.sources.push_back(mirror.source());
    origin.shown = origin.sources.front().location.shown();
    m_observer.last = {};
    return install(plan, request, m_root, m_observer);
  }
  // Nothing is left of an install that failed.
  void expect_untouched() const { EXPECT_EQ(base::entry_kind(m_root.path), base::EntryKind::absent); }

  test::SmallMirror m_mirror;
  test::Scratch m_scratch;
  store::Root m_root{m_scratch / "root"};
  base::Path m_toolkit = m_root.toolkit("12.8.1");
  Observer m_observer;
};

// What the tree really holds, in the receipt's terms.
std::map<std::string, std::string> tree_of(const base::Path& toolkit) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(toolkit)) {
    const std::string path = entry.path().lexically_relative(toolkit);
    if (path == "receipt.json" || (entry.is_directory() && !entry.is_symlink())) continue;
    if (entry.is_symlink()) {
      tree[path] = "-> " + base::link_target(entry.path())->native();
      continue;
    }
    struct stat info = {};
    EXPECT_EQ(::stat(entry.path().c_str(), &info), 0);
    tree[path] = std::to_string(info.st_mode & 07777) + " " + std::to_string(info.st_size) + " " +
                 sha256_of(test::content_of(entry.path()));
  }
  return tree;
}

std::map<std::string, std::string> tree_of(const store::Receipt& receipt) {
  std::map<std::string, std::string> tree;
  for (const store::ReceiptFile& file : receipt.files)
    tree[file.path] = file.target.empty()
                          ? std::to_string(file.mode) + " " + std::to_string(file.size) + " " + file.sha256
                          : "-> " + file.target;
  return tree;
}

TEST_F(Installer, receipt_equals_the_tree) {
  const auto outcome = install_it();
  ASSERT_TRUE(outcome) << test::told(outcome.error());
  EXPECT_FALSE(outcome->found);
  EXPECT_FALSE(outcome->replaced);
  const auto receipt = store::read_receipt(m_toolkit);
  ASSERT_TRUE(receipt) << receipt.error().message;
  EXPECT_EQ(tree_of(*receipt), tree_of(m_toolkit));
  EXPECT_EQ(outcome->file_count, receipt->files.size());
  std::uint64_t size = 0;
  for (const store::ReceiptFile& file : receipt->files) size += file.size;
  EXPECT_EQ(outcome->installed_size, size);
}

TEST_F(Installer, receipt_tells_what_was_asked_and_where_it_came_from) {
  ASSERT_TRUE(install_it({core::Profile::minimal, {"cuda_cccl"}, {}}));
  const auto receipt = store::read_receipt(m_toolkit);
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->release, (core::Version{12, 8, 1}));
  EXPECT_EQ(receipt->platform, "linux-x86_64");
  EXPECT_EQ(receipt->profile, "minimal");
  EXPECT_EQ(receipt->with, std::vector<std::string>{"cuda_cccl"});
  EXPECT_EQ(receipt->source, m_mirror.path());
  EXPECT_EQ(receipt->manifest_sha256, sha256_of(test::content_of(m_mirror / "redistrib_12.8.1.json")));
  ASSERT_EQ(receipt->components.size(), 3u);
  EXPECT_EQ(receipt->components[2].name, "cuda_nvcc");
  EXPECT_EQ(receipt->components[2].license, "CUDA Toolkit");
  EXPECT_EQ(receipt->components[2].license_sha256, sha256_of("licence"));
  EXPECT_EQ(receipt->components[2].archive, "cuda_nvcc/cuda_nvcc-archive.tar");
}

TEST_F(Installer, DL_11_nothing_but_the_toolkit_stays) {
  ASSERT_TRUE(install_it());
  EXPECT_EQ(base::list_directory(m_root.versions()), std::vector<std::string>{"12.8.1"});
  EXPECT_EQ(base::list_directory(m_root.path), std::vector<std::string>{"versions"});
  EXPECT_EQ(test::content_of(m_toolkit / "lib64/libcudart.so"), "so");
}

TEST_F(Installer, tells_of_each_component) {
  ASSERT_TRUE(install_it());
  std::sort(m_observer.events.begin(), m_observer.events.end());
  EXPECT_EQ(m_observer.events,
            (std::vector<std::string>{"fetched cuda_cccl", "fetched cuda_cudart", "fetched cuda_nvcc"}));
  EXPECT_EQ(m_observer.last.finished, 3u);
  EXPECT_EQ(m_observer.last.count, 3u);
  EXPECT_EQ(m_observer.last.received, m_observer.last.to_fetch);
  EXPECT_EQ(m_observer.last.unpacked, m_observer.last.total);
}

TEST_F(Installer, toolkit_that_is_there_is_left_as_it_is) {
  ASSERT_TRUE(install_it());
  ASSERT_TRUE(base::write_file(m_toolkit / "mine", "x"));
  m_observer.events.clear();
  const auto outcome = install_it();
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->found);
  EXPECT_TRUE(outcome->found->has_component("cuda_nvcc"));
  EXPECT_TRUE(m_observer.events.empty());
  EXPECT_TRUE(base::path_exists(m_toolkit / "mine"));
}

TEST_F(Installer, toolkit_that_is_there_is_replaced_on_demand) {
  ASSERT_TRUE(install_it());
  ASSERT_TRUE(base::write_file(m_toolkit / "mine", "x"));
  {
    const auto outcome = install_it({}, true);
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->found);
    ASSERT_TRUE(outcome->replaced);
    EXPECT_TRUE(base::path_exists(outcome->replaced->path() / "toolkit/mine"));
  }
  EXPECT_FALSE(base::path_exists(m_toolkit / "mine"));
  EXPECT_EQ(base::list_directory(m_root.versions()), std::vector<std::string>{"12.8.1"});
}

TEST_F(Installer, DL_11_left_overs_without_a_receipt_are_replaced) {
  ASSERT_TRUE(base::make_directories(m_toolkit / "bin"));
  ASSERT_TRUE(base::write_file(m_toolkit / "bin/half", "x"));
  ASSERT_TRUE(install_it());
  EXPECT_EQ(base::entry_kind(m_toolkit / "bin/half"), base::EntryKind::absent);
  EXPECT_TRUE(base::path_exists(m_toolkit / "receipt.json"));
}

// --- What goes wrong leaves nothing ---

TEST_F(Installer, DL_01_damaged_archive_leaves_nothing) {
  std::string bytes = test::content_of(m_mirror / "cuda_nvcc/cuda_nvcc-archive.tar");
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(base::write_file(m_mirror / "cuda_nvcc/cuda_nvcc-archive.tar", bytes));
  const auto outcome = install_it();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::integrity);
  expect_untouched();
}

TEST_F(Installer, absent_archive_leaves_nothing) {
  ASSERT_TRUE(base::remove_tree(m_mirror / "cuda_nvcc"));
  const auto outcome = install_it();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::not_found);
  EXPECT_NE(test::told(outcome.error()).find("cuda_nvcc"), std::string::npos);
  expect_untouched();
}

TEST_F(Installer, ARC_01_hostile_archive_with_a_good_digest_leaves_nothing) {
  m_mirror.add("libcublas", {test::file("../../../escaped", "x")});
  m_mirror.write_manifest("12.8.1");
  const auto outcome = install_it();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::integrity);
  EXPECT_EQ(base::entry_kind(m_scratch / "escaped"), base::EntryKind::absent);
  expect_untouched();
}

TEST_F(Installer, clash_leaves_nothing) {
  m_mirror.add("libcublas", {test::file("bin/nvcc", "another")});
  m_mirror.write_manifest("12.8.1");
  const auto outcome = install_it();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::integrity);
  expect_untouched();
}

TEST_F(Installer, failed_replacement_leaves_the_old_toolkit) {
  ASSERT_TRUE(install_it());
  ASSERT_EQ(::chmod((m_toolkit / "bin/nvcc").c_str(), 0744), 0);  // so that it cannot be taken over
  const auto before = tree_of(m_toolkit);
  ASSERT_TRUE(base::remove_tree(m_mirror / "cuda_nvcc"));
  ASSERT_FALSE(install_it({}, true));
  EXPECT_EQ(tree_of(m_toolkit), before);
  EXPECT_EQ(base::list_directory(m_root.versions()), std::vector<std::string>{"12.8.1"});
}

// --- What is here already ---

ino_t inode_of(const base::Path& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_ino;
}

TEST_F(Installer, replacement_takes_over_what_is_right_and_fetches_what_is_not) {
  ASSERT_TRUE(install_it());
  const auto before = tree_of(m_toolkit);
  const ino_t kept = inode_of(m_toolkit / "include/cuda_runtime.h");
  ASSERT_TRUE(base::write_file(m_toolkit / "bin/ptxas", "q"));
  m_observer.events.clear();
  const auto outcome = install_it({}, true);
  ASSERT_TRUE(outcome) << test::told(outcome.error());
  EXPECT_EQ(tree_of(m_toolkit), before);
  EXPECT_EQ(inode_of(m_toolkit / "include/cuda_runtime.h"), kept);
  std::sort(m_observer.events.begin(), m_observer.events.end());
  EXPECT_EQ(m_observer.events,
            (std::vector<std::string>{"fetched cuda_nvcc", "shared cuda_cccl", "shared cuda_cudart"}));
  EXPECT_EQ(test::content_of(m_toolkit / "bin/ptxas"), "p");
}

TEST_F(Installer, another_release_shares_archives_and_files_and_neither_needs_the_other) {
  ASSERT_TRUE(install_it());
  auto members = nvcc_members();
  members.back().content = "another h";
  test::SmallMirror other;
  other.add("cuda_nvcc", members);
  other.add("cuda_cudart", cudart_members());
  other.add("cuda_cccl", {test::file("include/nv/target", "t")});
  other.write_manifest("12.8.0");
  const core::Version release{12, 8, 0};
  const auto fetched = fetch_manifest(other.source(), release, registry::builtin(), {"any"});
  ASSERT_TRUE(fetched);
  const auto plan = core::plan_components(fetched->manifest, registry::builtin(), release, "linux-x86_64", {});
  ASSERT_TRUE(plan);
  m_observer.events.clear();
  const auto outcome = install_plan(other, *plan, request_of(release, {}, fetched->sha256, false));
  ASSERT_TRUE(outcome) << test::told(outcome.error());
  std::sort(m_observer.events.begin(), m_observer.events.end());
  EXPECT_EQ(m_observer.events,
            (std::vector<std::string>{"fetched cuda_nvcc", "shared cuda_cccl", "shared cuda_cudart"}));
  const base::Path newer = m_root.toolkit("12.8.0");
  EXPECT_EQ(inode_of(newer / "lib/libcudart_static.a"), inode_of(m_toolkit / "lib/libcudart_static.a"));
  EXPECT_EQ(inode_of(newer / "nvvm/bin/cicc"), inode_of(m_toolkit / "nvvm/bin/cicc")) << "of an archive that differs";
  EXPECT_GT(outcome->shared_size, 0u);
  EXPECT_EQ(tree_of(*store::read_receipt(newer)), tree_of(newer));
  ASSERT_TRUE(base::remove_tree(m_toolkit));
  EXPECT_EQ(tree_of(*store::read_receipt(newer)), tree_of(newer));
}

TEST_F(Installer, ARC_03_too_little_room_is_told_before_anything_is_fetched) {
  const Source source = m_mirror.source();
  auto fetched = fetch_manifest(source, {12, 8, 1}, registry::builtin(), {"any"});
  ASSERT_TRUE(fetched);
  auto plan = core::plan_components(fetched->manifest, registry::builtin(), {12, 8, 1}, "linux-x86_64", {});
  ASSERT_TRUE(plan);
  plan->components[0].archive.size = std::uint64_t{1} << 60;
  const auto outcome = install_plan(m_mirror, *plan, request_of({12, 8, 1}, {}, fetched->sha256, false));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::filesystem);
  EXPECT_TRUE(m_observer.events.empty());
  expect_untouched();
}

TEST_F(Installer, DL_03_incomplete_compiler_is_refused_unless_asked_for) {
  EXPECT_TRUE(install_it({core::Profile::minimal, {}, {"cuda_cccl"}}));
  ASSERT_TRUE(base::remove_tree(m_root.path));
  test::SmallMirror broken;
  broken.add("cuda_nvcc", {test::file("bin/nvcc", "n", 0755)});
  broken.write_manifest("12.8.1");
  const Source source = broken.source();
  const auto fetched = fetch_manifest(source, {12, 8, 1}, registry::builtin(), {"any"});
  ASSERT_TRUE(fetched);
  const auto plan = core::plan_components(fetched->manifest, registry::builtin(), {12, 8, 1}, "linux-x86_64", {});
  ASSERT_TRUE(plan);
  const auto outcome = install_plan(broken, *plan, request_of({12, 8, 1}, {}, fetched->sha256, false));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::integrity);
  expect_untouched();
}

}  // namespace
}  // namespace cudaenv::redist
