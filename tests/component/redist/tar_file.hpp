// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include "base/files.hpp"

namespace cudaenv::test {

// One member as the test wants it, however hostile.
struct Member {
  std::string name;
  mode_t type = AE_IFREG;
  std::string content = {};    // of a file
  std::string target = {};     // of a symbolic link
  std::string hard_link = {};  // then this is a hard link
  mode_t mode = 0644;
  std::int64_t modified = 1'700'000'000;
  std::vector<std::pair<std::int64_t, std::int64_t>> data = {};  // offset and length of what is no hole
};

inline Member file(std::string name, std::string content = "text", mode_t mode = 0644) {
  return {.name = std::move(name), .content = std::move(content), .mode = mode};
}
inline Member directory(std::string name, mode_t mode = 0755) {
  return {.name = std::move(name), .type = AE_IFDIR, .mode = mode};
}
inline Member link(std::string name, std::string target) {
  return {.name = std::move(name), .type = AE_IFLNK, .target = std::move(target), .mode = 0777};
}
inline Member hard_link(std::string name, std::string target) {
  return {.name = std::move(name), .hard_link = std::move(target)};
}

using AddFilter = int (*)(::archive*);

// Writes the members as they are, in this order.
inline void write_tar(const base::Path& path, const std::vector<Member>& members,
                      AddFilter add_filter = &::archive_write_add_filter_none) {
  struct Free {
    void operator()(::archive* writer) const noexcept { ::archive_write_free(writer); }
    void operator()(::archive_entry* entry) const noexcept { ::archive_entry_free(entry); }
  };
  const std::unique_ptr<::archive, Free> writer(::archive_write_new());
  ASSERT_EQ(::archive_write_set_format_pax(writer.get()), ARCHIVE_OK);
  ASSERT_EQ(add_filter(writer.get()), ARCHIVE_OK);
  ASSERT_EQ(::archive_write_open_filename(writer.get(), path.c_str()), ARCHIVE_OK);
  for (const Member& member : members) {
    const std::unique_ptr<::archive_entry, Free> entry(::archive_entry_new());
    ::archive_entry_set_pathname(entry.get(), member.name.c_str());
    ::archive_entry_set_filetype(entry.get(), member.type);
    ::archive_entry_set_perm(entry.get(), member.mode);
    ::archive_entry_set_mtime(entry.get(), member.modified, 0);
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    if (!member.target.empty()) ::archive_entry_set_symlink(entry.get(), member.target.c_str());
    if (!member.hard_link.empty()) ::archive_entry_set_hardlink(entry.get(), member.hard_link.c_str());
    for (const auto& [offset, length] : member.data) ::archive_entry_sparse_add_entry(entry.get(), offset, length);
    ASSERT_GE(::archive_write_header(writer.get(), entry.get()), ARCHIVE_WARN) << ::archive_error_string(writer.get());
    ASSERT_GE(::archive_write_data(writer.get(), member.content.data(), member.content.size()), 0);
  }
  ASSERT_EQ(::archive_write_close(writer.get()), ARCHIVE_OK) << ::archive_error_string(writer.get());
}

}  // namespace cudaenv::test
