// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine_facts.hpp"
#include "core/registry.hpp"
#include "core/version.hpp"

namespace cudaenv::core {

// What the gate says of a toolkit on a machine, from good to bad.
enum class Verdict { ok, unknown, limited, refused };

enum class ReasonKind {
  // Of the driver.
  driver_unknown,        // unknown: none, or it does not answer, or no table says what it runs
  driver_newer_than_us,  // unknown: its CUDA may be newer than the tables tell, and the toolkit is newer than that
  driver_too_old,        // refused: a newer major than the driver's; or newer, and its minors need a driver each (10.x)
  driver_below_minimum,  // refused: its major, but older than the first driver on which all minors of it run
  toolkit_newer,         // limited: its major, and newer than the driver's CUDA: PTX does not load (error 222)
  // Of the GPUs.
  gpu_unknown,      // unknown: none, none visible, or not to be had
  toolkit_unknown,  // unknown: its release is not known, or no table says which architectures it has
  gpu_dropped,      // refused or limited: the toolkit no longer has the GPU's architecture
  gpu_too_new,      // refused or limited: the toolkit does not have it yet
  gpu_not_driven,   // refused or limited: this driver does not drive that GPU
  gpu_lower_minor,  // limited: code of a lower minor of its major runs on it
  gpu_deprecated,   // ok: the toolkit warns that it will go
};

// Why a verdict is what it is: about the driver, or about GPUs of one capability.
struct Reason {
  ReasonKind kind;
  Verdict verdict;                       // what it alone comes to
  std::vector<std::uint32_t> gpus = {};  // positions in MachineFacts::gpus, by the index of the GPUs
  std::uint16_t architecture =
      0;                    // to build for (86 for sm_86), where that is the cure, the greatest of several; 0: none
  std::string text = {};    // one line: what this toolkit needs and what the machine has, by name and number
  std::string brief = {};   // the same in few words, for a table that says of which toolkit it is
  std::string cure = {};    // what helps, as a clause; empty if nothing can be said
  std::string source = {};  // ids in the registry that it rests on, spaces between; may be empty
};

struct ToolkitFacts {
  std::string name;                          // as it is called in texts: "CUDA 12.8.1", "toolkit mine"
  std::optional<Version> release;            // nothing: an adopted one that does not say
  std::vector<std::uint16_t> architectures;  // by its own nvcc --list-gpu-arch; empty: as the registry has it
};

struct Assessment {
  Verdict verdict = Verdict::ok;
  std::vector<Reason> reasons;  // the worst first; those of driver and GPUs are separate
};

// The rules of compatibility, in one place. `machine.gpus` that are not visible do not count.
// Sources: NVIDIA CUDA Compatibility guide (minor-version compatibility), CUDA Programming Guide (binary and PTX
// compatibility); numbers from the registry. A row that is missing makes `unknown`, never `ok`.
Assessment check(const Registry& registry, const ToolkitFacts& toolkit, const MachineFacts& machine);

// Releases that would do on the machine where `toolkit` is refused.
struct Suggestion {
  // The one nearest to what was asked for that is not refused: the newest where the toolkit is too new, the oldest
  // where it is too old. Of its minor the newest update; one that can be installed, if there is any. Nothing where the
  // toolkit is not refused, or everything is.
  std::optional<Version> release;
  // The newest of all that is `ok`; without one, the newest that would be as far as is known (`unknown`). Again one
  // that can be installed, if there is any.
  std::optional<Version> best;
};
Suggestion suggest(const Registry& registry, const ToolkitFacts& toolkit, const MachineFacts& machine);

// The newest release at all that is not refused, and the newest that is ok (or would be).
Suggestion newest_fits(const Registry& registry, const MachineFacts& machine);

// The release among those that the spec `auto` stands for: the newest that is ok; where nothing decides against any of
// them (no driver, no GPU), the newest not known to be less than ok. Without one, the newest `limited` one.
std::optional<Version> newest_fit(const Registry& registry, const std::vector<Version>& releases,
                                  const MachineFacts& machine);

// "ok", "limited", "refused", "unknown"; and the kinds as --json names them: "driver-too-old".
std::string_view to_text(Verdict verdict);
std::string_view to_text(ReasonKind kind);

// "GPU 0 (Tesla V100-SXM2-16GB, 7.0)", "GPU 1 (8.6)".
std::string to_text(const Gpu& gpu);

}  // namespace cudaenv::core
