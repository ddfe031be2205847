// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which toolkits are installed, for selection; under the rules of selection.hpp.

#include <cstddef>
#include <string_view>

#include "core/selection_types.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// System: see core/selection_types.hpp.
template <class System>
class Installed {
 public:
  Installed(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // Finds the toolkit that a spec stands for, the newest where there are several, the user's own before a shared one;
  // directory() and name() are then its. False if there is none.
  bool find(const Spec& spec) {
    if (spec.kind == SpecKind::name) return take(spec.text);
    if (spec.given == 3) return take(spec.version);
    bool is_bounded = false;
    Version bound;
    while (true) {
      bool is_found = false;
      Version newest;
      for_each_entry([&](std::string_view, std::string_view entry) {
        const auto release = parse_version(entry);
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

  std::string_view directory() const { return m_directory.view(); }
  std::string_view name() const { return m_name.view(); }

  // Calls f(std::string_view root, std::string_view name) for each whole toolkit of either root, releases and others
  // alike, in no order; one in both roots comes twice.
  template <class F>
  void for_each(F f) {
    for_each_entry([&](std::string_view root, std::string_view entry) {
      if ((parse_version(entry) || is_toolkit_name(entry)) && is_toolkit(root, entry)) f(root, entry);
    });
  }

  // Whether ROOT/versions/NAME is a whole toolkit: it has a receipt, or it is the link of an adopted one.
  bool is_toolkit(std::string_view root, std::string_view entry) {
    PathText directory;
    return is_toolkit(root, entry, directory);
  }

 private:
  // The same; leaves the toolkit's directory in `directory`.
  bool is_toolkit(std::string_view root, std::string_view entry, PathText& directory) {
    directory.assign(root).append("/versions/").append(entry);
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
      PathText versions(root->view());
      versions.append("/versions");
      m_system.for_each_entry(versions.c_str(), [&](std::string_view entry) { f(root->view(), entry); });
    }
  }

  bool take(const Version& release) {
    FixedText<32> text;
    text.append_number(release.major).append('.').append_number(release.minor).append('.').append_number(release.patch);
    return take(text.view());
  }

  bool take(std::string_view entry) {
    m_name.clear();
    for (const PathText* root : {&m_roots.own, &m_roots.shared}) {
      if (root->view().empty() || !is_toolkit(root->view(), entry, m_directory)) continue;
      m_name.assign(entry);
      return true;
    }
    return false;
  }

  System& m_system;
  const Roots& m_roots;
  FixedText<256> m_name;
  PathText m_directory;
};

}  // namespace cudaenv::core
