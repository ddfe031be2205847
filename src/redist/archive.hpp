// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudaenv::redist {

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

// Unpacks a tar archive (xz, gzip, zstd or plain) into `destination`, an existing empty directory, taking off its
// one top directory. Keeps symbolic links, hard links (as further names of the same file) and execute bits.
// ErrorKind::integrity, naming member and archive, for: a member outside the top directory or outside the
// destination by any trick ("..", absolute, through a link), a link whose target leaves the destination, a device
// or FIFO, a second member of the same name that is not a directory, an archive that is broken or empty.
// ErrorKind::filesystem for what the disk refuses. Directories are made with at least u+rwx. `keep_going` is asked
// between blocks; false interrupts.
[[nodiscard]] Result<std::vector<UnpackedEntry>> unpack(const base::Path& archive, const base::Path& destination,
                                                        const std::function<bool()>& keep_going);

}  // namespace cudaenv::redist
