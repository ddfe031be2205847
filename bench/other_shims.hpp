// SPDX-License-Identifier: Apache-2.0
#pragma once

// The shims of other managers that this machine has, each set up in a place of its own with one version that a file
// above the working directory selects, and with the same do-nothing tool.

#include <cstdlib>
#include <optional>

#include "rounds.hpp"

namespace bench {

// A program on PATH, links followed.
inline std::optional<fs::path> installed(const std::string& name) {
  std::string list = std::getenv("PATH") ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const fs::path path = fs::path(list.substr(at, end - at)) / name;
    if (end > at && ::access(path.c_str(), X_OK) == 0) return fs::canonical(path);
    at = end + 1;
  }
  std::printf("%s: not measured, as there is none on PATH\n", name.c_str());
  return std::nullopt;
}

inline void write_text(const fs::path& path, const std::string& text) { write_file(path, text); }

// rustc as rustup's proxy, with a toolchain called `mine`.
inline std::optional<Variant> rustup(const fs::path& top, const std::string& tool,
                                     std::vector<std::string>& environment) {
  const auto program = installed("rustup");
  if (!program) return std::nullopt;
  const fs::path home = top / "rustup";
  write_text(home / "settings.toml", "version = \"12\"\nprofile = \"default\"\n\n[overrides]\n");
  write_text(top / "home/project/rust-toolchain", "mine\n");
  write_file(home / "toolchains/mine/bin/rustc", tool);
  write_file(top / "cargo/bin/rustc", bytes_of(*program));
  environment.push_back("RUSTUP_HOME=" + home.string());
  environment.push_back("CARGO_HOME=" + (top / "cargo").string());
  return Variant{"rustup", {top / "cargo/bin/rustc"}};
}

// python as pyenv's shim, with a version 3.12.0.
inline std::optional<Variant> pyenv(const fs::path& top, const std::string& tool,
                                    std::vector<std::string>& environment) {
  const auto program = installed("pyenv");
  if (!program) return std::nullopt;
  const fs::path home = top / "pyenv";
  write_file(home / "versions/3.12.0/bin/python", tool);
  write_text(top / "home/project/.python-version", "3.12.0\n");
  fs::copy(program->parent_path(), home / "libexec", fs::copy_options::recursive);
  environment.push_back("PYENV_ROOT=" + home.string());
  const std::string command = "PYENV_ROOT='" + home.string() + "' '" + (home / "libexec/pyenv").string() + "' rehash";
  if (std::system(command.c_str()) != 0 || !fs::exists(home / "shims/python")) {
    std::puts("pyenv: not measured, as it makes no shim");
    return std::nullopt;
  }
  return Variant{"pyenv", {home / "shims/python"}};
}

}  // namespace bench
