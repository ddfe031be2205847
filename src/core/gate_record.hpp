// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the gate has decided on this machine, as it is kept for the shims, which never ask driver or GPU themselves;
// under the rules of selection.hpp. The program writes the record (store/gate_cache.hpp), program and shims read it.
//
// One file for each set of circumstances that could change the answer (gate_circumstances), in a directory of the
// user's own that no other host sees. In the file, one line a decision:
//
//     cudaenv-gate 1
//     until 1790000000                       not to be believed later (seconds since 1970); only if facts may change
//     soon allow TOOLKIT CONDITION DIRECTORY      that toolkit may be activated auto CONDITION DIRECTORY what `auto`
//     stands for
//     ...                                    lines for the program alone
//
// TOOLKIT is the fingerprint of the directory, so that a link that moved is not taken for the toolkit it was. CONDITION
// is `-`, or a fingerprint of what else the decision rests on: settings, and an exemption for one version file. There
// is no line for a refusal: whatever is not allowed is asked of the program, which can say why.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/env_names.hpp"
#include "core/fingerprint.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::core {

inline constexpr std::string_view k_gate_record_head = "cudaenv-gate 1\n";
inline constexpr std::string_view k_exemptions_name = "/exemptions.json";  // in a root
inline constexpr std::string_view k_program_name = "/bin/cudaenv";         // in a root: the program, or a link to it
inline constexpr std::size_t k_largest_gate_record = 32768;

// The policy is that of core/selection_types.hpp, with
//   FileStamp stamp(const char* path)                     follows links
//   std::size_t read_once(const char* path, char* buffer, std::size_t capacity)
//                                                         what one read of a small file gives; 0 if it cannot be read
//   std::size_t read_own(const char* path, char* buffer, std::size_t capacity)
//                                                         the same for a plain file that is this user's and that nobody
//                                                         else may write; no link
//   std::size_t link_text(const char* link, char* buffer, std::size_t capacity)   0 if it is no link
//   bool is_private_directory(const char* path)           this user's, closed to all others, no link
//   std::uint64_t user()                                  effective user id
//   std::int64_t now()                                    seconds since 1970

template <class System>
class GateRecord {
 public:
  GateRecord(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // Reads the record for the present circumstances. False: there is none that can be trusted.
  bool load() {
    if (!find_directory()) return false;
    append_name();
    const std::size_t size = m_system.read_own(m_path.c_str(), m_buffer, sizeof m_buffer);
    m_text = {m_buffer, size};
    if (size == sizeof m_buffer || !m_text.starts_with(k_gate_record_head)) return false;
    m_text.remove_prefix(k_gate_record_head.size());
    return !is_expired();
  }

  // Whether it says that the selected toolkit may be activated.
  bool allows(const Selection& selection) {
    const std::uint64_t toolkit = toolkit_fingerprint(selection.directory);
    for_each_line("allow ", [&](std::string_view line) {
      const auto recorded = parse_fingerprint(take_word(line));
      const std::string_view condition = take_word(line);
      if (recorded != toolkit || line != selection.directory) return false;
      return condition == "-" || parse_fingerprint(condition) == settings_condition(selection) ||
             parse_fingerprint(condition) == exemption_condition(selection);
    });
    return m_is_found;
  }

  // The directory of the toolkit that `auto` stands for; empty if the record does not say.
  std::string_view automatic() {
    std::string_view directory;
    for_each_line("auto ", [&](std::string_view line) {
      if (parse_fingerprint(take_word(line)) != installed_condition()) return false;
      directory = line;
      return true;
    });
    return directory;
  }

  // The file, once find_directory() or load() has found its place.
  const PathText& path() const { return m_path; }
  std::string_view text() const { return m_text; }

  // Puts the directory that holds the records into path(); false if there is none that is safe, and path() is where the
  // last of them would be.
  bool find_directory() {
    const char* runtime = m_system.variable("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/') {
      m_path.assign(runtime).append("/cudaenv");
      if (!m_path.is_cut() && m_system.is_private_directory(m_path.c_str())) return true;
    }
    m_path.assign("/tmp/cudaenv-").append_number(m_system.user());
    return m_system.is_private_directory(m_path.c_str());
  }
  void append_name() {
    constexpr char k_hex[] = "0123456789abcdef";
    const std::uint64_t name = circumstances();
    m_path.append("/gate-");
    for (int shift = 60; shift >= 0; shift -= 4) m_path.append(k_hex[name >> shift & 15]);
  }

  // --- Conditions ---

  std::uint64_t toolkit_fingerprint(std::string_view directory) {
    m_other.assign(directory);
    const FileStamp stamp = m_system.stamp(m_other.c_str());
    return Fingerprint().add(stamp.device).add(stamp.inode).value();
  }

  // The files of settings that are in force for the selection.
  std::uint64_t settings_condition(const Selection& selection) { return settings_fingerprint(selection).value(); }

  // The same, the exemptions and what is exempted: a version file and the spec in it.
  std::uint64_t exemption_condition(const Selection& selection) {
    Fingerprint fingerprint = settings_fingerprint(selection);
    fingerprint.add(stamp_in(m_roots.own, k_exemptions_name)).add(selection.origin.path).add(selection.word);
    return fingerprint.value();
  }

  // What is installed.
  std::uint64_t installed_condition() {
    return Fingerprint().add(stamp_in(m_roots.own, "/versions")).add(stamp_in(m_roots.shared, "/versions")).value();
  }

 private:
  // What decides which driver and GPUs a program would see, and what the user asked of the gate.
  std::uint64_t circumstances() {
    Fingerprint fingerprint;
    fingerprint.add(CUDAENV_VERSION_TEXT);
    add_file(fingerprint, "/proc/sys/kernel/random/boot_id");
    if (!add_file(fingerprint, "/sys/module/nvidia/version")) add_file(fingerprint, "/proc/driver/nvidia/version");
    // A container on the same kernel, and a batch job that is confined to some of the devices.
    const std::size_t size = m_system.link_text("/proc/self/ns/mnt", m_buffer, sizeof m_buffer);
    fingerprint.add(std::string_view(m_buffer, size));
    m_other.assign("/proc/self/cgroup");
    fingerprint.add(device_group({m_buffer, m_system.read_once(m_other.c_str(), m_buffer, sizeof m_buffer)}));
    for (const char* name : env_names::k_of_the_gate) {
      const char* value = m_system.variable(name);
      fingerprint.add(std::uint64_t{value != nullptr}).add(value ? value : "");
    }
    // Newer facts in a root.
    fingerprint.add(stamp_in(m_roots.own, "/registry")).add(stamp_in(m_roots.shared, "/registry"));
    return fingerprint.value();
  }

  bool add_file(Fingerprint& fingerprint, std::string_view path) {
    const char* prefix = m_system.variable(env_names::k_host_root);
    m_other.assign(prefix ? prefix : "").append(path);
    const std::size_t size = m_system.read_once(m_other.c_str(), m_buffer, sizeof m_buffer);
    fingerprint.add(std::string_view(m_buffer, size));
    return size != 0;
  }

  // The control group that says which devices may be opened, of the lines "id:controllers:path": the one of the
  // controller `devices`, else the one of the unified hierarchy. Groups of login sessions confine nobody.
  static constexpr std::string_view device_group(std::string_view text) {
    std::string_view group;
    while (!text.empty()) {
      std::string_view line = take_until(text, '\n');
      take_until(line, ':');
      const std::string_view controllers = take_until(line, ':');
      if (controllers == "devices" || (controllers.empty() && group.empty())) group = line;
    }
    return group.starts_with("/user.slice") ? std::string_view() : group;
  }

  Fingerprint settings_fingerprint(const Selection& selection) {
    Fingerprint fingerprint;
    fingerprint.add(stamp_in(m_roots.own, "/config.toml")).add(stamp_in(m_roots.shared, "/config.toml"));
    FileStamp project;
    if (selection.origin.kind == OriginKind::project_file) {
      std::string_view directory = selection.origin.path;
      while (!directory.empty() && !directory.ends_with('/')) directory.remove_suffix(1);
      m_other.assign(directory).append(".cudaenv.toml");
      project = m_system.stamp(m_other.c_str());
    }
    return fingerprint.add(project);
  }

  FileStamp stamp_in(const PathText& root, std::string_view name) {
    if (root.view().empty()) return {};
    m_other.assign(root.view()).append(name);
    return m_system.stamp(m_other.c_str());
  }

  bool is_expired() {
    std::int64_t until = 0;
    for_each_line("until ", [&](std::string_view line) {
      for (const char c : line)
        until = c >= '0' && c <= '9' && until < 1'000'000'000'000 ? until * 10 + (c - '0') : until;
      return true;
    });
    return m_is_found && m_system.now() >= until;
  }

  // Calls f with the rest of each line that starts with `kind`, until it answers true: then m_is_found.
  template <class F>
  void for_each_line(std::string_view kind, F f) {
    m_is_found = false;
    for (std::string_view rest = m_text; !rest.empty() && !m_is_found;) {
      const std::string_view line = take_until(rest, '\n');
      if (line.starts_with(kind)) m_is_found = f(line.substr(kind.size()));
    }
  }

  static constexpr std::string_view take_word(std::string_view& line) { return take_until(line, ' '); }

  static constexpr std::string_view take_until(std::string_view& text, char end) {
    std::size_t size = 0;
    while (size < text.size() && text[size] != end) ++size;
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(size < text.size() ? size + 1 : size);
    return taken;
  }

  System& m_system;
  const Roots& m_roots;
  PathText m_path;
  PathText m_other;
  std::string_view m_text;
  bool m_is_found = false;
  char m_buffer[k_largest_gate_record];  // not cleared
};

}  // namespace cudaenv::core
