// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <time.h>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "redist/archive.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {

class FileBank;

// A file that is being written; made by TreeWriter::begin_file, ended by TreeWriter::end_file.
struct FileInProgress {
  std::string path;  // relative to the prefix
  base::Fd fd;
  Sha256 digest = {};
  std::uint64_t size = 0;  // written so far, holes included
};

// Writes a tree below one directory, and keeps a record of it. Paths are plain (plain_member_path) and relative to
// that directory. ErrorKind::integrity for what an honest archive would not ask for, its message going on from the
// member's name ("is in the archive twice"); ErrorKind::filesystem otherwise, naming the path.
class TreeWriter {
 public:
  // `bank`, which may be null: a file that it has is linked in the place of the one that was written.
  [[nodiscard]] static Result<TreeWriter> open(const base::Path& directory, const FileBank* bank);

  // One that is there already is fine.
  [[nodiscard]] Result<void> make_directory(const std::string& path);
  [[nodiscard]] Result<void> make_link(const std::string& path, const std::string& target);
  // Another name for a file (or link) that has been written before.
  [[nodiscard]] Result<void> make_hard_link(const std::string& path, const std::string& existing);

  [[nodiscard]] Result<FileInProgress> begin_file(const std::string& path);
  // Bytes at `offset`, which must not lie before the end of what has been written; the gap is a hole that reads as
  // zeros. With no bytes it only makes the hole. `keep_going` as for unpack.
  [[nodiscard]] Result<void> write(FileInProgress& file, std::uint64_t offset, std::string_view bytes,
                                   const std::function<bool()>& keep_going);
  // `mode` as the archive has it; `modified` may be absent.
  [[nodiscard]] Result<void> end_file(FileInProgress file, mode_t mode, const std::optional<timespec>& modified);

  // Makes the checks that need the whole tree, and hands over the record.
  [[nodiscard]] Result<std::vector<UnpackedEntry>> finish() &&;

 private:
  TreeWriter(base::Path directory, base::Fd root, const FileBank* bank)
      : m_directory(std::move(directory)), m_root(std::move(root)), m_bank(bank) {}

  // A link whose target passes through directories that must be real ones (check_link_target).
  struct Passage {
    std::string link;
    std::vector<std::string> directories;
  };

  Result<base::Fd> open_directory(std::string_view path);
  Result<void> share(const UnpackedEntry& entry);
  Error failure(std::string_view action, const std::string& path, int system_error) const;
  void record(UnpackedEntry entry);
  const UnpackedEntry* find(const std::string& path) const;

  base::Path m_directory;  // for messages only
  base::Fd m_root;
  const FileBank* m_bank;
  std::vector<UnpackedEntry> m_entries;
  std::unordered_map<std::string, std::size_t> m_places;  // path -> index in m_entries
  std::vector<Passage> m_passages;
};

}  // namespace cudaenv::redist
