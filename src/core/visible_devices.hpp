// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine_facts.hpp"

namespace cudaenv::core {

struct VisibleDevices {
  std::vector<std::size_t> positions;  // in the list of GPUs, as they are named, each once
  bool is_cut = false;                 // the list was not read to its end, because of
  std::string bad_entry;               // this one
};

// Which GPUs CUDA_VISIBLE_DEVICES lets a program see: indices, GPU- and MIG- UUIDs or unique beginnings of them, also
// MIG-GPU-<uuid>/<gi>/<ci>. An instance makes its GPU visible. The list ends at the first entry that names nothing
// (-1 is the usual one). Source: CUDA Programming Guide, CUDA environment variables; MIG User Guide.
VisibleDevices visible_devices(std::string_view value, std::span<const Gpu> gpus);

// Whether the first entry is an index, which depends on the order in which CUDA counts.
bool counts_devices(std::string_view value);

}  // namespace cudaenv::core
