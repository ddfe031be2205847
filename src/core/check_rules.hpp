// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/check.hpp"
#include "core/registry_lookup.hpp"

namespace cudaenv::core {

// The inside of check.hpp: the rules (check_rules.cpp) decide, the words (check_words.hpp) are put to it afterwards.

// The question, with what both halves look up again and again.
struct CheckCase {
  CheckCase(const Registry& registry, const ToolkitFacts& toolkit, const MachineFacts& machine);

  const Registry& registry;
  const ToolkitFacts& toolkit;
  const MachineFacts& machine;
  std::vector<std::uint16_t> codes;    // architectures of the toolkit, ascending; empty: unknown
  std::vector<std::uint32_t> visible;  // positions of the visible GPUs, by their index
};

// Which code of a toolkit runs on a GPU.
enum class Fit { none, lower_minor, own };
struct GpuFit {
  Fit fit = Fit::none;
  std::uint16_t code = 0;  // 86 for sm_86
};

// The GPU's own code, also under its former name; else the greatest code of a lower minor of its major. Tegra chips
// run no code but their own, and theirs runs on no other chip. (CUDA Programming Guide, binary compatibility)
GpuFit fit_of(const Registry& registry, std::span<const std::uint16_t> codes, ComputeCapability gpu);

// The codes to build for so that every visible GPU that the toolkit can serve has its own, ascending.
std::vector<std::uint16_t> codes_to_build(const CheckCase& question);

// Whether the toolkit has code for a visible GPU, or that cannot be told.
bool can_serve_a_gpu(const CheckCase& question);

// The oldest driver on which all minors of a major run, on this machine's side (Windows under WSL). Null if unknown.
const DottedVersion* minimum_driver(const CheckCase& question, std::uint32_t cuda_major);

// Whether the kernel's part is too old for the major. A forward-compatibility library has its own limits, which it
// was found to keep; Tegra's driver has numbers of its own.
bool is_below_minimum(const CheckCase& question, std::uint32_t cuda_major);

// The branch of the kernel's driver; 0: unknown.
std::uint32_t kernel_branch(const CheckCase& question);

// Whether the driver's minor and the toolkit's have the same PTX ISA, as 12.5 and 12.6 do. Unknown is no.
bool has_same_ptx(const CheckCase& question);

// All reasons, without words and in no order.
std::vector<Reason> judge(const CheckCase& question);
Verdict worst_of(const std::vector<Reason>& reasons);

}  // namespace cudaenv::core
