// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace cudaenv::core {

// A file by which a Tegra (Jetson) can be told from another Arm machine. Each is missing somewhere, so any will do: a
// container does not have the release file, a virtual machine no device tree.
struct TegraSign {
  std::string_view path;
  std::string_view content;  // what must be in it; empty: that it is there
};

inline constexpr std::array<TegraSign, 5> k_tegra_signs{{
    {"/etc/nv_tegra_release", ""},
    {"/proc/device-tree/compatible", "nvidia,tegra"},
    {"/sys/devices/soc0/family", "Tegra"},
    {"/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", ""},   // L4T to 35, and 36 in part
    {"/usr/lib/aarch64-linux-gnu/nvidia/libnvrm_gpu.so", ""},  // L4T from 36 on
}};

// Whether the host shows one of them. `has(path)`: whether the file is there; `text(path)`: what is in it, empty if it
// cannot be read.
template <class Has, class Text>
bool shows_tegra(Has has, Text text) {
  for (const TegraSign& sign : k_tegra_signs)
    if (sign.content.empty() ? has(sign.path) : text(sign.path).find(sign.content) != std::string_view::npos)
      return true;
  return false;
}

}  // namespace cudaenv::core
