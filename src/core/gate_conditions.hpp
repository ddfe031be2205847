// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the decisions in the gate's record rest on, as fingerprints; under the rules of selection.hpp.

#include <cstdint>
#include <string_view>

#include "core/fingerprint.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_exemptions_name = "/exemptions.json";  // in a root

// The policy is that of core/selection_types.hpp, with
//   FileStamp stamp(const char* path)                     follows links
//   std::size_t read_once(const char* path, char* buffer, std::size_t capacity)
//                                                         what one read of a small file gives; 0 if it cannot be read
//   std::size_t read_own(const char* path, char* buffer, std::size_t capacity)
//                                                         the same for a plain file that is this user's and that nobody
//                                                         else may write; no link
//   std::size_t link_text(const char* link, char* buffer, std::size_t capacity)   0 if it is no link
//   bool is_own_directory(const char* path)               this user's, and nobody else may write to it
//   bool is_private_directory(const char* path)           this user's, closed to all others, no link
//   std::uint64_t mount_of(const char* path)              number of the mount that it lies in; 0: the kernel does not
//   say std::uint64_t user()                                  effective user id std::int64_t now() seconds since 1970

template <class System>
class GateConditions {
 public:
  GateConditions(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // What a toolkit's directory holds: a link that moved, or an upgrade in place, is another one.
  std::uint64_t toolkit_fingerprint(std::string_view directory) {
    const FileStamp stamp = stamp_in(directory, "");
    Fingerprint fingerprint;
    fingerprint.add(stamp.device).add(stamp.inode);
    return fingerprint.add(stamp_in(directory, "/bin/nvcc")).add(stamp_in(directory, "/version.json")).value();
  }

  std::uint64_t file_fingerprint(std::string_view file) { return Fingerprint().add(stamp_in(file, "")).value(); }

  // The files of settings that are in force for the selection.
  std::uint64_t settings_condition(const Selection& selection) { return settings_fingerprint(selection).value(); }

  // The same, the exemptions and what is exempted: a version file and the spec in it.
  std::uint64_t exemption_condition(const Selection& selection) {
    Fingerprint fingerprint = settings_fingerprint(selection);
    fingerprint.add(stamp_in(m_roots.own.view(), k_exemptions_name));
    return fingerprint.add(selection.origin.path).add(selection.word).value();
  }

  // What is installed.
  std::uint64_t installed_condition() {
    Fingerprint fingerprint;
    fingerprint.add(stamp_in(m_roots.own.view(), "/versions")).add(stamp_in(m_roots.shared.view(), "/versions"));
    return fingerprint.value();
  }

 private:
  Fingerprint settings_fingerprint(const Selection& selection) {
    Fingerprint fingerprint;
    fingerprint.add(stamp_in(m_roots.own.view(), "/config.toml"));
    fingerprint.add(stamp_in(m_roots.shared.view(), "/config.toml"));
    std::string_view project;
    if (selection.origin.kind == OriginKind::project_file) {
      project = selection.origin.path;
      while (!project.empty() && !project.ends_with('/')) project.remove_suffix(1);
    }
    return fingerprint.add(stamp_in(project, ".cudaenv.toml"));
  }

  // Of nothing, where there is no such directory.
  FileStamp stamp_in(std::string_view directory, std::string_view name) {
    if (directory.empty()) return {};
    PathText path(directory);
    return m_system.stamp(path.append(name).c_str());
  }

  System& m_system;
  const Roots& m_roots;
};

}  // namespace cudaenv::core
