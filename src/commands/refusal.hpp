// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "commands/app.hpp"
#include "core/check.hpp"
#include "core/machine_facts.hpp"
#include "store/selected.hpp"

namespace cudaenv::commands {

// An activation that the gate refuses.
struct Refused {
  const store::Selected& selected;
  const core::ToolkitFacts& toolkit;
  const core::Assessment& assessment;
  const core::MachineFacts& machine;
  std::string overriding;  // see Passage
  std::string instead;
};

// ErrorKind::incompatible in the words of the contract: which check failed, what the toolkit needs and what is here,
// what would work instead, and how to have it all the same.
[[nodiscard]] Error refusal(App& app, const Refused& refused);

}  // namespace cudaenv::commands
