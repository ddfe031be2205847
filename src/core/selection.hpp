// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which toolkit a directory selects: CUDAENV_VERSION, then the nearest .cuda-version upward, then
// ROOT/version, then the shared root's, then nothing. This is the only place that knows. The program, the
// command shims and the library shims all compile this header, so it needs no allocation, no exceptions and
// no libc: every system call goes through the policy `System`, every buffer is fixed. Reading files here is
// not I/O of the core's own: the caller brings it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/selection_types.hpp"
#include "core/version.hpp"
#include "core/version_file.hpp"

namespace cudaenv::core {

// System provides, with NUL-terminated paths and without ever blocking on a FIFO:
//   const char* variable(const char* name)            null if unset
//   ReadOutcome read(const char* path, char* buffer, std::size_t capacity)
//   bool is_current_directory(const char* path)       by identity
//   bool current_directory(char* buffer, std::size_t capacity)
//   PathKind kind(const char* path)                   does not follow a link
//   bool exists(const char* path)                     follows links
//   void for_each_entry(const char* directory, f)     f(std::string_view name)
//   void warn(const SelectionWarning&)
template <class System>
class Selector {
 public:
  Selector(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // The order of the contract, from the working directory. Each of the three steps answers with origin `none` when
  // it has nothing to say.
  Selection select() {
    Selection selection = select_by_variable();
    if (is_empty(selection)) selection = select_by_project();
    if (is_empty(selection)) selection = select_by_root();
    return selection;
  }

  Selection select_by_variable() {
    const char* variable = m_system.variable("CUDAENV_VERSION");
    if (!variable || !*variable) return {};
    return from_text(variable, Origin{OriginKind::variable, "CUDAENV_VERSION", 0});
  }

  Selection select_by_project() {
    if (!find_working_directory()) return {};
    while (true) {
      const std::size_t directory_size = m_file.size();
      m_file.append(m_file.view().ends_with('/') ? "" : "/").append(k_version_file_name);
      const Selection selection = from_file(OriginKind::project_file);
      if (!is_empty(selection)) return selection;
      m_file.truncate(directory_size);
      if (!go_up()) return {};
    }
  }

  Selection select_by_root() {
    for (const auto kind : {OriginKind::global_file, OriginKind::shared_file}) {
      const PathText& root = kind == OriginKind::global_file ? m_roots.own : m_roots.shared;
      if (root.view().empty()) continue;
      m_file.assign(root.view()).append("/version");
      const Selection selection = from_file(kind);
      if (!is_empty(selection)) return selection;
    }
    return {};
  }

  // The toolkit that a spec stands for among those installed.
  Selection resolve(const Spec& spec, const Origin& origin) {
    Selection selection{SelectionStatus::not_installed, origin, spec, spec.text, {}, {}, 0};
    if (spec.kind == SpecKind::system) {
      selection.status = SelectionStatus::system;
      return selection;
    }
    m_name.clear();
    if (!find_installed(spec)) return selection;
    selection.status = SelectionStatus::selected;
    selection.directory = m_directory.view();
    selection.name = m_name.view();
    return selection;
  }

  // Calls f(std::string_view root, std::string_view name) for each whole toolkit of either root, releases and
  // others alike, in no order; one in both roots comes twice.
  template <class F>
  void for_each_toolkit(F f) {
    for_each_entry([&](std::string_view root, std::string_view name) {
      if ((parse_version(name) || is_toolkit_name(name)) && is_toolkit(root, name)) f(root, name);
    });
  }

  // Calls f(Version) for each whole toolkit that is a release, in no order; one in both roots comes twice.
  template <class F>
  void for_each_release(F f) {
    for_each_toolkit([&](std::string_view, std::string_view name) {
      if (const auto release = parse_version(name)) f(*release);
    });
  }

  // Whether ROOT/versions/NAME is a whole toolkit: it has a receipt, or it is the link of an adopted one.
  bool is_toolkit(std::string_view root, std::string_view name) { return is_toolkit(root, name, m_probed); }

 private:
  // The same; leaves the toolkit's directory in `directory`.
  bool is_toolkit(std::string_view root, std::string_view name, PathText& directory) {
    directory.assign(root).append("/versions/").append(name);
    if (directory.is_cut()) return false;
    const std::size_t size = directory.size();
    const PathKind kind = m_system.kind(directory.c_str());
    if (kind != PathKind::directory && kind != PathKind::link) return false;
    directory.append('/').append(kind == PathKind::link ? "bin" : k_receipt_name);
    const bool is_whole = !directory.is_cut() && m_system.exists(directory.c_str());
    directory.truncate(size);
    return is_whole;
  }

  // Calls f(root, name) for whatever lies in the `versions` of either root.
  template <class F>
  void for_each_entry(F f) {
    for (const PathText* root : {&m_roots.own, &m_roots.shared}) {
      if (root->view().empty()) continue;
      m_listed.assign(root->view()).append("/versions");
      m_system.for_each_entry(m_listed.c_str(), [&](std::string_view name) { f(root->view(), name); });
    }
  }

  static bool is_empty(const Selection& selection) { return selection.origin.kind == OriginKind::none; }

  Selection from_text(std::string_view text, Origin origin) {
    const VersionText parsed = parse_version_text(text);
    const bool is_file = origin.kind != OriginKind::variable;
    if (is_file) origin.line = parsed.line;
    switch (parsed.status) {
      case VersionTextStatus::empty:
        if (is_file) m_system.warn(SelectionWarning{WarningKind::empty_file, origin, {}});
        return {};
      case VersionTextStatus::invalid: return {SelectionStatus::invalid, origin, {}, parsed.word, {}, {}, 0};
      case VersionTextStatus::utf16: return {SelectionStatus::utf16, origin, {}, {}, {}, {}, 0};
      case VersionTextStatus::too_large: return {SelectionStatus::too_large, origin, {}, {}, {}, {}, 0};
      case VersionTextStatus::spec: break;
    }
    if (!parsed.extra.empty()) {
      Origin extra = origin;
      if (is_file) extra.line = parsed.extra_line;
      m_system.warn(SelectionWarning{WarningKind::extra_word, extra, parsed.extra});
    }
    return resolve(parsed.spec, origin);
  }

  // Reads m_file; a Selection with origin `none` means: go on searching.
  Selection from_file(OriginKind kind) {
    if (m_file.is_cut()) return {};
    const ReadOutcome outcome = m_system.read(m_file.c_str(), m_content, sizeof m_content);
    const Origin origin{kind, m_file.view(), 0};
    switch (outcome.status) {
      case ReadStatus::absent: return {};
      case ReadStatus::not_a_file: m_system.warn(SelectionWarning{WarningKind::not_a_file, origin, {}}); return {};
      case ReadStatus::failed: return {SelectionStatus::unreadable, origin, {}, {}, {}, {}, outcome.system_error};
      case ReadStatus::ok: break;
    }
    return from_text(std::string_view(m_content, outcome.size), origin);
  }

  // Puts the directory that the search starts from into m_file: $PWD if it names the working directory (a
  // project behind a link answers for the path that the user sees), else the physical one. Of a directory too
  // deep to be named by a path, the nearest one above it that can be.
  bool find_working_directory() {
    const char* shown = m_system.variable("PWD");
    if (shown && shown[0] == '/' && !has_dot_part(shown) && m_system.is_current_directory(shown)) {
      m_file.assign(shown);
      if (!m_file.is_cut()) return true;
    }
    if (!m_system.current_directory(m_content, sizeof m_content)) return false;
    m_file.assign(m_content);
    if (m_file.is_cut()) go_up();
    return m_file.view().starts_with('/');
  }

  static constexpr bool has_dot_part(std::string_view path) {
    for (std::size_t start = 0; start < path.size(); ++start) {
      std::size_t end = start;
      while (end < path.size() && path[end] != '/') ++end;
      const std::size_t size = end - start;
      if ((size == 1 || size == 2) && path[start] == '.' && path[end - 1] == '.') return true;
      start = end;
    }
    return false;
  }

  // Cuts the last part off m_file; false at the top.
  bool go_up() {
    std::size_t size = m_file.size();
    while (size > 1 && m_file.view()[size - 1] == '/') --size;
    if (size <= 1) return false;
    while (size > 1 && m_file.view()[size - 1] != '/') --size;
    while (size > 1 && m_file.view()[size - 1] == '/') --size;
    m_file.truncate(size);
    return true;
  }

  // Leaves the toolkit in m_directory and m_name.
  bool find_installed(const Spec& spec) {
    if (spec.kind == SpecKind::name) return take(spec.text);
    if (spec.given == 3) return take(spec.version);
    bool is_bounded = false;
    Version bound;
    while (true) {
      bool is_found = false;
      Version newest;
      for_each_entry([&](std::string_view, std::string_view name) {
        const auto release = parse_version(name);
        if (!release || !spec.matches(*release)) return;
        if ((is_bounded && *release >= bound) || (is_found && *release <= newest)) return;
        newest = *release;
        is_found = true;
      });
      if (!is_found) return false;
      if (take(newest)) return true;
      bound = newest;  // left-overs that only look like a toolkit: try the next older one
      is_bounded = true;
    }
  }

  bool take(const Version& release) {
    PathText name;
    name.append_number(release.major).append('.').append_number(release.minor).append('.').append_number(release.patch);
    return take(name.view());
  }

  bool take(std::string_view name) {
    for (const PathText* root : {&m_roots.own, &m_roots.shared}) {
      if (root->view().empty() || !is_toolkit(root->view(), name, m_directory)) continue;
      m_name.assign(name);
      return true;
    }
    return false;
  }

  System& m_system;
  const Roots& m_roots;
  PathText m_file;       // directory or version file under examination
  PathText m_directory;  // the toolkit
  PathText m_listed;
  PathText m_probed;
  FixedText<256> m_name;
  char m_content[k_largest_version_file + 1];  // one more than allowed, to see that there is more; not cleared
};

}  // namespace cudaenv::core
