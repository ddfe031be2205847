// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/files.hpp"
#include "base/result.hpp"
#include "redist/read_bytes.hpp"

namespace cudaenv::redist {

class FileBank;

enum class EntryType { file, directory, link };

// One thing that an archive put on the disk. Paths are relative to the prefix, the archive's top directory taken off.
struct UnpackedEntry {
  EntryType type;
  std::string path;
  mode_t mode = 0;          // permission bits; setuid, setgid and sticky are never kept
  std::uint64_t size = 0;   // file
  std::string sha256 = {};  // file: of its content, taken while it was written
  std::string target = {};  // link
};

struct Unpacking {
  std::string name;                // of the archive, for messages
  base::Path destination;          // an existing empty directory
  unsigned threads = 1;            // for an archive of several xz blocks; zero counts as one
  const FileBank* bank = nullptr;  // files that need not be written once more
  std::function<bool(std::string_view path)> leaves_out =
      nullptr;                                 // files that are not wanted, by their path in the prefix
  std::function<bool()> keep_going = nullptr;  // asked between blocks; false interrupts
};

// Unpacks a tar archive (xz, gzip, zstd or plain) as it comes, taking off its one top directory. Keeps symbolic links,
// hard links (as further names of the same file) and execute bits. ErrorKind::integrity, naming member and archive,
// for: a member outside the top directory or outside the destination by any trick ("..", absolute, through a link), a
// link whose target leaves the destination, a device or FIFO, a second member of the same name that is not a directory,
// an archive that is broken or empty. ErrorKind::filesystem for what the disk refuses; an error of `read` as it is.
// Directories are made with at least u+rwx. What follows the end of the tar is not read.
[[nodiscard]] Result<std::vector<UnpackedEntry>> unpack(const ReadBytes& read, const Unpacking& unpacking);

}  // namespace cudaenv::redist
