// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::core {

// A group of files, of whatever component, that can be left out of a toolkit by its word. No component has such a name.
struct FileGroup {
  std::string_view word;
  std::string_view summary;
  bool (*has)(std::string_view path);  // below the toolkit
};

std::span<const FileGroup> file_groups();
const FileGroup* find_file_group(std::string_view word);

// Which files are left out, by the words for groups among `without`; names of components in it are passed over.
class FileChoice {
 public:
  explicit FileChoice(std::span<const std::string> without);

  // Whether the file or link at that path, below the toolkit, is left out.
  bool leaves_out(std::string_view path) const;
  bool leaves_out_any() const { return m_groups != 0; }
  // Whether whatever this leaves out is left out by the other one too.
  bool is_within(const FileChoice& other) const { return (m_groups & ~other.m_groups) == 0; }
  // The words of the groups that this leaves out and the other one does not.
  std::vector<std::string> beyond(const FileChoice& other) const;
  friend bool operator==(const FileChoice&, const FileChoice&) = default;

 private:
  unsigned m_groups = 0;  // a bit for each of file_groups()
};

}  // namespace cudaenv::core
