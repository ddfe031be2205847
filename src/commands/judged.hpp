// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "commands/app.hpp"
#include "core/check.hpp"
#include "core/machine_facts.hpp"
#include "store/settings.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {

// What the gate has to know of an installed toolkit, and of a release wherever it is.
[[nodiscard]] core::ToolkitFacts toolkit_facts(App& app, const std::string& name, const base::Path& directory,
                                               const core::MachineFacts& machine);
[[nodiscard]] core::ToolkitFacts toolkit_facts(const core::Version& release);

// Whether the settings make the verdict a refusal.
bool is_objection(core::Verdict verdict, const store::Settings& settings);

// An installed toolkit with the gate's word on it.
struct Judged {
  store::Toolkit toolkit;
  core::Verdict verdict;
};

// The installed toolkits that the gate would let pass, oldest first.
[[nodiscard]] Result<std::vector<Judged>> passing_toolkits(App& app, const core::MachineFacts& machine,
                                                           const store::Settings& settings);

// The newest of those with the best verdict; null if there is none. As core::newest_fit chooses among releases.
const Judged* best_of(const std::vector<Judged>& judged);

}  // namespace cudaenv::commands
