// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/file_choice.hpp"
#include "core/version.hpp"
#include "store/receipt.hpp"
#include "store/roots.hpp"

namespace cudaenv::redist {

// The files of a root's installed toolkits, known by their receipts, to be linked instead of fetched and written once
// more. What a receipt says is believed only after the file has been read. May be used by several threads.
class FileBank {
 public:
  // What of the toolkit that is to be replaced is taken over without being read.
  enum class OwnFiles { read_first, as_they_are };

  // Of the toolkits nearest to `release` that were installed for that platform.
  FileBank(const store::Root& root, const core::Version& release, std::string_view platform, OwnFiles own_files,
           std::function<bool()> keep_going);
  FileBank(const FileBank&) = delete;
  FileBank& operator=(const FileBank&) = delete;

  // A component that came out of one archive, as some toolkit has it.
  struct Kept {
    base::Path toolkit;
    bool is_own = false;
    std::vector<const store::ReceiptFile*> files;
  };
  // What each toolkit has that has all the files of it that are chosen, the nearest first.
  std::vector<Kept> holders(const core::PlannedComponent& planned, const core::FileChoice& choice) const;

  // Links the component's files below `to`. False, with whatever is there then, if one of them is not what it ought to
  // be any more or cannot be linked.
  [[nodiscard]] Result<bool> link_component(const Kept& kept, const base::Path& to) const;

  bool is_empty() const { return m_toolkits.empty(); }

  // Links a file with that content and mode as `name` in an open directory, where no such thing is yet. False if there
  // is none to be had.
  bool link_file(std::string_view sha256, std::uint64_t size, mode_t mode, int directory, const char* name) const;

 private:
  struct Member {
    base::Path toolkit;
    bool is_own = false;
    store::Receipt receipt;
  };
  struct Place {
    const Member* toolkit;
    const store::ReceiptFile* file;
  };

  bool is_intact(const base::Path& path, const store::ReceiptFile& file) const;
  bool link(const base::Path& from, bool is_own, int directory, const char* name) const;

  const OwnFiles m_own_files;
  const std::function<bool()> m_keep_going;
  std::vector<Member> m_toolkits;  // the nearest first
  std::unordered_map<std::string_view, Place> m_by_digest;
  mutable std::atomic<bool> m_can_clone = true;
};

}  // namespace cudaenv::redist
