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

#include "base/dot_part.hpp"
#include "base/env_names.hpp"
#include "core/installed.hpp"
#include "core/selection_types.hpp"
#include "core/version_file.hpp"

namespace cudaenv::core {

// System: see core/selection_types.hpp.
template <class System>
class Selector {
 public:
  Selector(System& system, const Roots& roots) : m_system(system), m_roots(roots), m_installed(system, roots) {}

  Installed<System>& installed() { return m_installed; }

  // The order of the contract, from the working directory. Each of the three steps answers with origin `none` when
  // it has nothing to say.
  Selection select() {
    Selection selection = select_by_variable();
    if (is_empty(selection)) selection = select_by_project();
    if (is_empty(selection)) selection = select_by_root();
    return selection;
  }

  Selection select_by_variable() {
    const char* variable = m_system.variable(env_names::k_version);
    if (!variable || !*variable) return {};
    return from_text(variable, Origin{OriginKind::variable, env_names::k_version, 0});
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
    if (!m_installed.find(spec)) return selection;
    selection.status = SelectionStatus::selected;
    selection.directory = m_installed.directory();
    selection.name = m_installed.name();
    return selection;
  }

 private:
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
    if (shown && shown[0] == '/' && !base::has_dot_part(shown) && m_system.is_current_directory(shown)) {
      m_file.assign(shown);
      if (!m_file.is_cut()) return true;
    }
    if (!m_system.current_directory(m_content, sizeof m_content)) return false;
    m_file.assign(m_content);
    if (m_file.is_cut()) go_up();
    return m_file.view().starts_with('/');
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

  System& m_system;
  const Roots& m_roots;
  Installed<System> m_installed;
  PathText m_file;                             // directory or version file under examination
  char m_content[k_largest_version_file + 1];  // one more than allowed, to see that there is more; not cleared
};

}  // namespace cudaenv::core
