// SPDX-License-Identifier: Apache-2.0
#include "driver/kernel_files.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "core/dotted_version.hpp"
#include "core/tegra_signs.hpp"

namespace cudaenv::driver {
namespace {

constexpr std::uint64_t k_most = 64u << 10;  // of a file that is some lines long

// The files of one host.
class Host {
 public:
  explicit Host(const std::string& root) : m_root(root) {}

  bool has(std::string_view path) const { return base::path_exists(at(path)); }
  bool has_directory(std::string_view path) const { return base::directory_exists(at(path)); }
  // Empty if it cannot be read.
  std::string text(std::string_view path) const {
    const auto read = base::read_file(at(path), k_most);
    return read && *read ? **read : std::string();
  }
  std::vector<std::string> names(std::string_view directory) const {
    return base::list_directory(at(directory)).value_or(std::vector<std::string>());
  }

 private:
  std::string at(std::string_view path) const { return fmt::format("{}{}", m_root, path); }

  const std::string& m_root;
};

bool is_tegra(const Host& host) {
  return core::shows_tegra([&](std::string_view path) { return host.has(path); },
                           [&](std::string_view path) { return host.text(path); });
}

bool names_microsoft(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text.find("microsoft") != std::string::npos;
}

bool is_wsl(const Host& host) {
  return host.has("/dev/dxg") || host.has_directory("/usr/lib/wsl/lib") ||
         names_microsoft(host.text("/proc/sys/kernel/osrelease")) || names_microsoft(host.text("/proc/version"));
}

void read_version(const Host& host, core::Observation& seen) {
  constexpr std::string_view k_proc = "/proc/driver/nvidia/version";
  constexpr std::string_view k_sys = "/sys/module/nvidia/version";
  seen.kernel_version = version_in_proc_file(host.text(k_proc));
  seen.kernel_version_file = k_proc;
  if (seen.kernel_version.empty()) {
    const std::string text = host.text(k_sys);
    seen.kernel_version = base::trimmed(text);
    seen.kernel_version_file = k_sys;
  }
  if (seen.kernel_version.empty()) seen.kernel_version_file.clear();
}

std::optional<std::uint32_t> hexadecimal(std::string_view text) {
  text = base::trimmed(text);
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// NVIDIA's display and 3D controllers. Source: PCI Code and ID Assignment (class 03), pciids (vendor 10de).
void read_pci(const Host& host, core::Observation& seen) {
  constexpr std::uint32_t k_nvidia = 0x10de;
  constexpr std::uint32_t k_display = 0x03;
  constexpr std::string_view k_devices = "/sys/bus/pci/devices";
  for (const std::string& name : host.names(k_devices)) {
    const std::string directory = fmt::format("{}/{}/", k_devices, name);
    if (hexadecimal(host.text(directory + "vendor")) != k_nvidia) continue;
    const auto pci_class = hexadecimal(host.text(directory + "class"));
    const auto device = hexadecimal(host.text(directory + "device"));
    if (pci_class && *pci_class >> 16 == k_display && device && *device <= 0xffff)
      seen.pci_devices.push_back(static_cast<std::uint16_t>(*device));
  }
}

}  // namespace

std::string version_in_proc_file(std::string_view text) {
  for (std::string_view line : base::split(text, '\n')) {
    const std::size_t module = line.find("Module");
    if (!line.starts_with("NVRM version:") || module == std::string_view::npos) continue;
    for (const std::string_view word : base::split(line.substr(module), ' ')) {
      const auto version = core::parse_dotted_version(base::trimmed(word));
      if (version && version->count >= 2) return std::string(base::trimmed(word));
    }
  }
  return {};
}

core::Observation read_kernel_files(const std::string& host_root) {
  const Host host(host_root);
  core::Observation seen;
  read_version(host, seen);
  seen.has_nvidia_module = host.has_directory("/sys/module/nvidia") || !seen.kernel_version.empty();
  seen.has_nouveau = host.has_directory("/sys/module/nouveau");
  seen.has_dxg = host.has("/dev/dxg");
  if (is_tegra(host))
    seen.host = core::HostKind::tegra;
  else if (!seen.has_nvidia_module && is_wsl(host))
    seen.host = core::HostKind::wsl;
  read_pci(host, seen);
  return seen;
}

}  // namespace cudaenv::driver
