// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/layout.hpp"
#include "redist/archive.hpp"
#include "store/receipt.hpp"

namespace cudaenv::redist {

// Builds the one tree of a toolkit out of unpacked components, by renaming: no file is copied.
class TreeMerger {
 public:
  // `tree`: the directory that becomes the toolkit, existing and empty; must outlive the merger. `command`: what was
  // typed, for a hint.
  TreeMerger(const base::Path& tree, std::string target_directory, std::string command)
      : m_tree(tree), m_target_directory(std::move(target_directory)), m_command(std::move(command)) {}

  // Moves in what was unpacked at `from`. ErrorKind::integrity, naming both components, if a path is taken by
  // something else; the same content twice is fine.
  [[nodiscard]] Result<void> add(const core::PlannedComponent& component, const std::vector<UnpackedEntry>& entries,
                                 const base::Path& from);

  // Moves in what another toolkit has of a component, linked at `from` as it is installed.
  [[nodiscard]] Result<void> add_installed(const std::string& component,
                                           const std::vector<const store::ReceiptFile*>& files, const base::Path& from);

  // Makes the links and files that no archive brings (core/layout.hpp) and checks that a compiler is whole if there
  // ought to be one.
  enum class ExpectCompiler { yes, no };
  [[nodiscard]] Result<void> finish(const core::Version& release, const core::ComponentPlan& plan,
                                    ExpectCompiler expect);

  // Files and links, by path.
  std::vector<store::ReceiptFile> take_files();
  // Digest of the licence text that came with a component; empty if there was none.
  std::string license_digest(std::string_view component) const;

 private:
  [[nodiscard]] Result<void> place(store::ReceiptFile file, const base::Path& from, bool is_relinked);
  [[nodiscard]] Result<void> make_parents(const std::string& path, std::string_view component);
  [[nodiscard]] Result<bool> is_known(const store::ReceiptFile& file);
  [[nodiscard]] Result<void> relocate_pc_files();
  [[nodiscard]] Result<void> write_own(const std::string& path, const std::string& content);
  // A component without a name is cudaenv itself.
  tl::unexpected<Error> clash(const std::string& path, std::string_view first, std::string_view second) const;

  const base::Path& m_tree;
  const std::string m_target_directory;
  const std::string m_command;
  std::map<std::string, store::ReceiptFile> m_files;
  std::map<std::string, std::string> m_directories;  // those that exist, with the component that brought them
};

}  // namespace cudaenv::redist
