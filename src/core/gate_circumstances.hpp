// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the gate's record for the present circumstances lies (gate_record.hpp); under the rules of selection.hpp.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/env_names.hpp"
#include "core/fingerprint.hpp"
#include "core/selection_types.hpp"

namespace cudaenv::core {

inline constexpr std::size_t k_largest_gate_record = 32768;

// Takes the part before the first `end`, and that one, off the text.
constexpr std::string_view take_until(std::string_view& text, char end) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != end) ++size;
  const std::string_view taken(text.data(), size);  // not substr: it can throw
  text.remove_prefix(size < text.size() ? size + 1 : size);
  return taken;
}

// The control group that says which devices may be opened, of the lines "id:controllers:path" of /proc/self/cgroup:
// that of the controller `devices`, else that of the unified hierarchy. Groups of login sessions confine nobody.
constexpr std::string_view device_group(std::string_view text) {
  std::string_view group;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    take_until(line, ':');
    std::string_view controllers = take_until(line, ':');
    if (controllers.empty() && group.empty()) group = line;
    while (!controllers.empty())
      if (take_until(controllers, ',') == "devices") group = line;
  }
  return group.starts_with("/user.slice") ? std::string_view() : group;
}

// What decides which driver and GPUs a program would see, and what the user asked of the gate, as the name of a file.
// System: see gate_record.hpp.
template <class System>
class GateCircumstances {
 public:
  GateCircumstances(System& system, const Roots& roots) : m_system(system), m_roots(roots) {}

  // Puts the directory that holds the records into `path`; false if there is none that is safe, and `path` is where the
  // last of them would be. XDG_RUNTIME_DIR may be somebody else's, as after `su`: what lies there is then his to
  // change.
  bool find_directory(PathText& path) {
    const char* runtime = m_system.variable("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/' && m_system.is_own_directory(runtime)) {
      path.assign(runtime).append("/cudaenv");
      if (!path.is_cut() && m_system.is_private_directory(path.c_str())) return true;
    }
    path.assign("/tmp/cudaenv-").append_number(m_system.user());
    return m_system.is_private_directory(path.c_str());
  }

  // Adds the record's name to its directory; false if that is too long a path.
  bool append_name(PathText& path) {
    path.append("/gate-");
    append_fingerprint(path, fingerprint());
    return !path.is_cut();
  }

 private:
  std::uint64_t fingerprint() {
    Fingerprint fingerprint;
    fingerprint.add(CUDAENV_VERSION_TEXT);
    add_file(fingerprint, "/proc/sys/kernel/random/boot_id");
    if (!add_file(fingerprint, "/sys/module/nvidia/version")) add_file(fingerprint, "/proc/driver/nvidia/version");
    // A container on the same kernel: its root is another mount, or, where the kernel does not tell mounts apart, it
    // has a name space of its own. Either number is used again, so its root directory counts too. And a batch job that
    // is confined to some of the devices.
    char buffer[4096];
    const std::uint64_t mount = m_system.mount_of("/");
    const std::size_t size = mount != 0 ? 0 : m_system.link_text("/proc/self/ns/mnt", buffer, sizeof buffer);
    const FileStamp top = m_system.stamp("/");
    fingerprint.add(mount).add(std::string_view(buffer, size)).add(top.device).add(top.inode);
    fingerprint.add(device_group({buffer, m_system.read_once("/proc/self/cgroup", buffer, sizeof buffer)}));
    for (const char* name : env_names::k_of_the_gate) {
      const char* value = m_system.variable(name);
      if (std::string_view(name) == env_names::k_library_path)
        add_search_path(fingerprint, value ? value : "");
      else
        fingerprint.add(std::uint64_t{value != nullptr}).add(value ? value : "");
    }
    add_facts(fingerprint, m_roots.own);
    add_facts(fingerprint, m_roots.shared);
    return fingerprint.value();
  }

  // But for what cudaenv itself puts on it: no driver lies in a root, and the answer is the same with a toolkit in
  // force and without.
  void add_search_path(Fingerprint& fingerprint, std::string_view list) {
    std::uint64_t count = 0;
    for (; !list.empty(); ++count) {
      const std::string_view directory = take_until(list, ':');
      if (is_in(m_roots.own, directory) || is_in(m_roots.shared, directory))
        --count;
      else
        fingerprint.add(directory);
    }
    fingerprint.add(count);
  }

  static bool is_in(const PathText& root, std::string_view directory) {
    const std::size_t size = root.size();
    return size != 0 && directory.size() > size && directory.starts_with(root.view()) && directory[size] == '/';
  }

  bool add_file(Fingerprint& fingerprint, std::string_view path) {
    const char* prefix = m_system.variable(env_names::k_host_root);
    PathText file(prefix ? prefix : "");
    char buffer[4096];
    const std::size_t size = m_system.read_once(file.append(path).c_str(), buffer, sizeof buffer);
    fingerprint.add(std::string_view(buffer, size));
    return size != 0;
  }

  // Newer tables in a root, where there are any.
  void add_facts(Fingerprint& fingerprint, const PathText& root) {
    if (root.view().empty()) return;
    PathText path(root.view());
    const FileStamp directory = m_system.stamp(path.append("/registry").c_str());
    fingerprint.add(directory);
    if (!directory.exists) return;
    std::uint64_t files = 0;  // in no order
    m_system.for_each_entry(path.c_str(), [&](std::string_view name) {
      PathText file(path.view());
      files += Fingerprint().add(name).add(m_system.stamp(file.append('/').append(name).c_str())).value();
    });
    fingerprint.add(files);
  }

  System& m_system;
  const Roots& m_roots;
};

}  // namespace cudaenv::core
