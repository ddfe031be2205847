// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "commands/app.hpp"
#include "commands/gate.hpp"
#include "core/check.hpp"
#include "core/machine_facts.hpp"
#include "store/selected.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {

// An activation that the gate refuses.
struct Refused {
  const store::Selected& selected;
  const store::Settings& settings;
  const core::ToolkitFacts& toolkit;
  const core::Assessment& assessment;
  const core::MachineFacts& machine;
  const Passage& passage;
};

// ErrorKind::incompatible in the words of the contract: which check failed, what the toolkit needs and what is here,
// what would work instead, and how to have it all the same.
[[nodiscard]] Error refusal(App& app, const Refused& refused);

// "in full: 12.4.1; with limits: 12.9.2", of releases; empty if nothing is known to run.
std::string in_words(const core::Suggestion& suggestion);

}  // namespace cudaenv::commands
