// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/fingerprint.hpp"

namespace cudaenv::test {

// The policy of core/gate_record.hpp in memory: whatever is not put in is not there.
class MemoryGate {
 public:
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;  // their content; read_own() trusts them unless named in `of_others`
  std::map<std::string, std::string> links;
  std::map<std::string, std::uint64_t> mounts;
  std::map<std::string, core::FileStamp> stamps;
  std::set<std::string> own_directories;
  std::set<std::string> private_directories;
  std::set<std::string> of_others;
  std::int64_t time = 1'750'000'000;

  // Something new at that path: an inode of its own.
  void touch(const std::string& path) { stamps[path] = {true, 1, ++m_inode, 4096, time, 0}; }

  // The policy.
  const char* variable(const char* name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  }
  core::FileStamp stamp(const char* path) const {
    const auto found = stamps.find(path);
    return found == stamps.end() ? core::FileStamp() : found->second;
  }
  std::size_t read_once(const char* path, char* buffer, std::size_t capacity) const {
    return copy(files, path, buffer, capacity);
  }
  std::size_t read_own(const char* path, char* buffer, std::size_t capacity) const {
    return of_others.count(path) != 0 ? 0 : copy(files, path, buffer, capacity);
  }
  std::size_t link_text(const char* link, char* buffer, std::size_t capacity) const {
    return copy(links, link, buffer, capacity);
  }
  template <class F>
  void for_each_entry(const char* directory, F f) const {
    const std::string prefix = std::string(directory) + "/";
    f(std::string_view("."));
    f(std::string_view(".."));
    for (const auto& [path, stamp] : stamps)
      if (path.starts_with(prefix)) f(std::string_view(path).substr(prefix.size()));
  }
  bool is_own_directory(const char* path) const { return own_directories.count(path) != 0; }
  bool is_private_directory(const char* path) const { return private_directories.count(path) != 0; }
  std::uint64_t mount_of(const char* path) const {
    const auto found = mounts.find(path);
    return found == mounts.end() ? 0 : found->second;
  }
  std::uint64_t user() const { return 1000; }
  std::int64_t now() const { return time; }

 private:
  static std::size_t copy(const std::map<std::string, std::string>& from, const char* path, char* buffer,
                          std::size_t capacity) {
    const auto found = from.find(path);
    if (found == from.end()) return 0;
    const std::size_t size = std::min(capacity, found->second.size());
    std::memcpy(buffer, found->second.data(), size);
    return size;
  }

  std::uint64_t m_inode = 100;
};

}  // namespace cudaenv::test
