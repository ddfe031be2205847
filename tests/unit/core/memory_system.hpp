// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/selection_types.hpp"

namespace cudaenv::test {

// The policy of core/selection.hpp over a tree in memory. Parents of what is put in come by themselves.
class MemorySystem {
 public:
  MemorySystem() { m_nodes["/"] = {Kind::directory, {}}; }

  void file(const std::string& path, std::string_view content = {}) { put(path, {Kind::file, std::string(content)}); }
  void directory(const std::string& path) { put(path, {Kind::directory, {}}); }
  void link(const std::string& path, const std::string& target) { put(path, {Kind::link, target}); }
  void fifo(const std::string& path) { put(path, {Kind::fifo, {}}); }
  void unreadable(const std::string& path) { put(path, {Kind::unreadable, {}}); }
  // A directory with a receipt, as an install leaves it.
  void toolkit(const std::string& root, const std::string& name) {
    file(root + "/versions/" + name + "/receipt.json", "{}");
    directory(root + "/versions/" + name + "/bin");
  }
  void set(const std::string& name, const std::string& value) { m_variables[name] = value; }
  // Working directory, as the kernel knows it; empty: it has been removed.
  void enter(const std::string& path) { m_current = path; }

  std::vector<core::WarningKind> warnings;
  std::vector<std::string> warned_of;  // path:line of each

  // The policy.
  const char* variable(const char* name) const {
    const auto found = m_variables.find(name);
    return found == m_variables.end() ? nullptr : found->second.c_str();
  }
  core::ReadOutcome read(const char* path, char* buffer, std::size_t capacity) const {
    using core::ReadStatus;
    const auto place = resolve(path);
    if (!place) return {ReadStatus::absent, 0, ENOENT};
    const Node& node = m_nodes.at(*place);
    if (node.kind == Kind::unreadable) return {ReadStatus::failed, 0, EACCES};
    if (node.kind != Kind::file) return {ReadStatus::not_a_file, 0, 0};
    const std::size_t size = std::min(capacity, node.content.size());
    std::memcpy(buffer, node.content.data(), size);
    return {ReadStatus::ok, size, 0};
  }
  bool is_current_directory(const char* path) const {
    const auto place = resolve(path);
    return place && !m_current.empty() && *place == m_current;
  }
  bool is_same_directory(const char* a, const char* b) const {
    const auto first = resolve(a);
    const auto second = resolve(b);
    return first && second && *first == *second;
  }
  bool current_directory(char* buffer, std::size_t capacity) const {
    if (m_current.empty() || m_current.size() >= capacity) return false;
    std::strcpy(buffer, m_current.c_str());
    return true;
  }
  core::PathKind kind(const char* path) const {
    const auto place = resolve(path, Last::kept);
    if (!place) return core::PathKind::absent;
    const Kind kind = m_nodes.at(*place).kind;
    if (kind == Kind::directory) return core::PathKind::directory;
    return kind == Kind::link ? core::PathKind::link : core::PathKind::other;
  }
  bool exists(const char* path) const { return resolve(path).has_value(); }
  template <class F>
  void for_each_entry(const char* directory, F f) const {
    const auto place = resolve(directory);
    if (!place) return;
    f(std::string_view("."));
    f(std::string_view(".."));
    const std::string prefix = *place == "/" ? "/" : *place + "/";
    for (const auto& [path, node] : m_nodes)
      if (path.size() > prefix.size() && path.starts_with(prefix) && path.find('/', prefix.size()) == path.npos)
        f(std::string_view(path).substr(prefix.size()));
  }
  void warn(const core::SelectionWarning& warning) {
    warnings.push_back(warning.kind);
    warned_of.push_back(std::string(warning.origin.path) + ":" + std::to_string(warning.origin.line));
  }

 private:
  enum class Kind { file, directory, link, fifo, unreadable };
  enum class Last { followed, kept };
  struct Node {
    Kind kind;
    std::string content;  // of a link: its target
  };

  void put(const std::string& path, Node node) {
    for (std::size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1))
      m_nodes.try_emplace(path.substr(0, slash), Node{Kind::directory, {}});
    m_nodes[path] = std::move(node);
  }

  // The place without links, dots and double slashes; nothing if there is none.
  std::optional<std::string> resolve(std::string path, Last last = Last::followed, int links = 0) const {
    if (!path.starts_with('/') || path.size() >= 4096 || links > 40) return std::nullopt;
    std::string place = "/";
    for (std::size_t at = 0; at < path.size();) {
      std::size_t end = path.find('/', at);
      if (end == path.npos) end = path.size();
      const std::string part = path.substr(at, end - at);
      at = end + 1;
      if (part.empty() || part == ".") continue;
      if (m_nodes.at(place).kind != Kind::directory) return std::nullopt;
      if (part == "..") {
        place.resize(std::max<std::size_t>(place.rfind('/'), 1));
        continue;
      }
      const std::string parent = place == "/" ? "" : place;
      place = parent + "/" + part;
      const auto found = m_nodes.find(place);
      if (found == m_nodes.end()) return std::nullopt;
      const bool is_last = at >= path.size();
      if (found->second.kind != Kind::link || (is_last && last == Last::kept)) continue;
      const std::string& target = found->second.content;
      const std::string rest = is_last ? "" : "/" + path.substr(at);
      return resolve((target.starts_with('/') ? target : parent + "/" + target) + rest, last, links + 1);
    }
    return place;
  }

  std::map<std::string, Node> m_nodes;
  std::map<std::string, std::string> m_variables;
  std::string m_current = "/";
};

}  // namespace cudaenv::test
