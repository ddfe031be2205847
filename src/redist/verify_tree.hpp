// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "store/receipt.hpp"

namespace cudaenv::redist {

enum class FileFault {
  missing,
  content,  // size or digest
  mode,
  target,     // of a link
  displaced,  // something of another kind stands in its place, or in that of a directory above it
  unreadable,
};

// "missing", "changed", "mode", "link", "displaced", "unreadable"
std::string_view to_text(FileFault fault);

struct FaultyFile {
  std::string path;  // below the toolkit, as in the receipt
  FileFault fault;
  std::string detail;  // in words; empty where there is nothing to add
};

// What a tree has other than its receipt says. Both lists are sorted by path.
struct TreeReport {
  std::vector<FaultyFile> faulty;  // one for each fault: a file may have two
  std::vector<std::string> extra;  // files and links that the receipt does not know
  std::uint64_t file_count = 0;    // that the receipt knows
  std::uint64_t hashed = 0;        // bytes that were read

  bool is_whole() const { return faulty.empty(); }
  std::size_t faulty_files() const;
};

// Compares a toolkit with its receipt; the files are read by so many threads, a block (read_bytes.hpp) for each in
// memory. `keep_going` is asked by all of them all the time: ErrorKind::interrupted once it says no. `on_progress` is
// told the bytes that were read and those that there are to read, some ten times a second, on the calling thread.
// ErrorKind::filesystem if the toolkit's own directory cannot be read.
[[nodiscard]] Result<TreeReport> compare_with_receipt(
    const base::Path& toolkit, const store::Receipt& receipt, unsigned threads, const std::function<bool()>& keep_going,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress);

}  // namespace cudaenv::redist
