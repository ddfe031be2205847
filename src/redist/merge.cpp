// SPDX-License-Identifier: Apache-2.0
#include "redist/merge.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/selection_types.hpp"
#include "redist/digest.hpp"

// Each component is unpacked by itself, so that a clash between two is seen here, by name and digest, and not as a
// silent overwriting. Directories are never moved, only made: two components share most of them.

namespace cudaenv::redist {
namespace {

bool is_same(const store::ReceiptFile& a, const store::ReceiptFile& b) {
  return a.target == b.target && a.size == b.size && a.sha256 == b.sha256;
}

// Links that archives of other layouts bring where ours has a directory or makes the link itself.
bool is_layout_link(const UnpackedEntry& entry, std::string_view target_directory) {
  if (entry.type != EntryType::link) return false;
  const std::string target = fmt::format("targets/{}", target_directory);
  return entry.path == "lib64" || entry.path == "lib" || entry.path == "include" || entry.path == target + "/lib" ||
         entry.path == target + "/include" || entry.path == "pkgconfig" || entry.path == "pkg-config";
}

store::ReceiptFile of_link(const core::LinkToMake& link) {
  store::ReceiptFile file;
  file.path = link.path;
  file.target = link.target;
  return file;
}

}  // namespace

tl::unexpected<Error> TreeMerger::clash(const std::string& path, std::string_view first,
                                        std::string_view second) const {
  // By name, since components come in any order; cudaenv itself first.
  if (second < first) std::swap(first, second);
  const std::string shown = base::escaped(path);
  return fail(ErrorKind::integrity,
              first.empty() ? fmt::format("component {} brings {}, which is in cudaenv's way", second, shown)
                            : fmt::format("components {} and {} both bring {}, and not the same", first, second, shown),
              fmt::format("{} --without {}", m_command, second));
}

Result<void> TreeMerger::make_parents(const std::string& path, std::string_view component) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (m_directories.contains(parent)) continue;
    if (const auto taken = m_files.find(parent); taken != m_files.end())
      return clash(parent, taken->second.component, component);
    const base::Path directory = m_tree / parent;
    if (::mkdir(directory.c_str(), 0755) != 0) return fail(base::file_error("create", directory, errno));
    (void)::chmod(directory.c_str(), 0755);  // whatever the umask: others may use the toolkit
    m_directories.emplace(parent, component);
  }
  return {};
}

// Whether that very file is in the tree already, then as one of both components; an error if another one is.
Result<bool> TreeMerger::is_known(const store::ReceiptFile& file) {
  if (file.path.substr(0, file.path.find('/')) == core::k_receipt_name) return clash(file.path, "", file.component);
  if (const auto taken = m_directories.find(file.path); taken != m_directories.end())
    return clash(file.path, taken->second, file.component);
  const auto known = m_files.find(file.path);
  if (known == m_files.end()) return false;
  store::ReceiptFile& there = known->second;
  if (!is_same(there, file)) return clash(file.path, there.component, file.component);
  // Components come in any order; what is written of them does not depend on it.
  std::vector<std::string>& others = there.also_of;
  others.push_back(std::max(there.component, file.component));
  there.component = std::min(there.component, file.component);
  std::sort(others.begin(), others.end());
  return true;
}

Result<void> TreeMerger::add(const core::PlannedComponent& planned, const std::vector<UnpackedEntry>& entries,
                             const base::Path& from) {
  const std::string& component = planned.component->name;
  for (const UnpackedEntry& entry : entries) {
    if (entry.type == EntryType::directory || is_layout_link(entry, m_target_directory)) continue;
    if (!core::is_for_toolkit(entry.path, planned)) continue;
    store::ReceiptFile file;
    file.path = core::installed_path(entry.path, planned, m_target_directory);
    file.component = component;
    file.mode = entry.mode;
    file.size = entry.size;
    file.sha256 = entry.sha256;
    if (entry.type == EntryType::link)
      file.target = core::installed_target(entry.path, entry.target, planned, m_target_directory);
    CUDAENV_CHECK(place(file, from / entry.path, file.target != entry.target));
  }
  return {};
}

Result<void> TreeMerger::add_installed(const std::string& component,
                                       const std::vector<const store::ReceiptFile*>& files, const base::Path& from) {
  for (const store::ReceiptFile* installed : files) {
    store::ReceiptFile file = *installed;
    file.component = component;
    file.also_of.clear();
    CUDAENV_CHECK(place(std::move(file), from / installed->path, false));
  }
  return {};
}

Result<void> TreeMerger::place(store::ReceiptFile file, const base::Path& from, bool is_relinked) {
  CUDAENV_TRY(known, is_known(file));
  if (known) return {};
  CUDAENV_CHECK(make_parents(file.path, file.component));
  const base::Path to = m_tree / file.path;
  CUDAENV_CHECK(is_relinked ? base::make_link(file.target, to) : base::rename_path(from, to));
  std::string path = file.path;
  m_files.emplace(std::move(path), std::move(file));
  return {};
}

Result<void> TreeMerger::write_own(const std::string& path, const std::string& content) {
  CUDAENV_CHECK(make_parents(path, ""));
  CUDAENV_CHECK(base::write_file(m_tree / path, content, 0644, base::Durable::no));
  store::ReceiptFile& file = m_files[path];
  file.path = path;
  if (file.mode == 0) file.mode = 0644;
  file.size = content.size();
  file.sha256 = sha256_of(content);
  return {};
}

Result<void> TreeMerger::relocate_pc_files() {
  std::vector<std::string> paths;
  for (const auto& [path, file] : m_files)
    if (path.starts_with("lib/pkgconfig/") && path.ends_with(".pc") && file.target.empty()) paths.push_back(path);
  for (const std::string& path : paths) {
    CUDAENV_TRY(text, base::read_file(m_tree / path, 1 << 20));
    std::string relocated = text ? core::relocated_pc(*text) : std::string();
    if (text && relocated != *text) CUDAENV_CHECK(write_own(path, relocated));
  }
  return {};
}

Result<void> TreeMerger::finish(const core::Version& release, const core::ComponentPlan& plan, ExpectCompiler expect) {
  CUDAENV_CHECK(relocate_pc_files());
  std::vector<core::VersionRecord> versions;
  for (const core::PlannedComponent& planned : plan.components)
    if (planned.product.empty())
      versions.push_back({planned.component->name, planned.component->human_name, planned.component->version});
  if (!m_files.contains("version.json"))
    CUDAENV_CHECK(write_own("version.json", core::version_json(release, versions)));

  core::Tree tree;
  for (const auto& [path, file] : m_files) tree.insert(path);
  for (const core::LinkToMake& link : core::plan_links(tree, m_target_directory)) {
    CUDAENV_CHECK(make_parents(link.path, ""));
    CUDAENV_CHECK(base::make_link(link.target, m_tree / link.path));
    m_files.emplace(link.path, of_link(link));
  }
  if (expect == ExpectCompiler::yes) {
    if (const auto missing = core::missing_compiler_files(tree); !missing.empty())
      return fail(ErrorKind::integrity, "the archives do not make a whole compiler", "cudaenv install --list",
                  {fmt::format("missing: {}", fmt::join(missing, ", "))});
  }
  return {};
}

std::vector<store::ReceiptFile> TreeMerger::take_files() {
  std::vector<store::ReceiptFile> files;
  files.reserve(m_files.size());
  for (auto& [path, file] : m_files) files.push_back(std::move(file));
  m_files.clear();
  return files;
}

std::string TreeMerger::license_digest(std::string_view component) const {
  const auto license = m_files.find(fmt::format("share/licenses/{}/LICENSE", component));
  return license == m_files.end() ? std::string() : license->second.sha256;
}

}  // namespace cudaenv::redist
