// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "commands/app.hpp"
#include "core/check.hpp"
#include "core/version.hpp"
#include "store/selected.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {

enum class Telling {
  all,       // what is unknown too
  limits,    // where it will not work in full
  refusals,  // nothing but those
};

// What the gate needs to know of an activation besides the toolkit.
struct Passage {
  Asking asking = Asking::where_needed;
  Telling telling = Telling::limits;
  // What to type to activate it all the same, and to activate another one, VERSION; empty: by what selects it.
  std::string overriding = {};
  std::string instead = {};
};

// Lets an activation pass, with whatever there is to say, and keeps the decision for the shims; or
// ErrorKind::incompatible: which check failed, what would work, and how to override. Only toolkits are looked at.
[[nodiscard]] Result<void> pass_gate(App& app, const store::Selected& selected, const store::Settings& settings,
                                     const Passage& passage);

// Puts the toolkit that a selected `auto` stands for into the selection: the newest installed one that is right for
// this machine. Its `problem` is set if none is.
[[nodiscard]] Result<void> choose_automatic(App& app, store::Selected& selected);

// The gate's word on an installed toolkit, and on a release wherever it is.
[[nodiscard]] core::ToolkitFacts toolkit_facts(App& app, const std::string& name, const base::Path& directory,
                                               const core::MachineFacts& machine);
[[nodiscard]] core::ToolkitFacts toolkit_facts(const core::Version& release);

// Says in one line what is other than ok; empty if nothing is.
std::string one_line(const core::Assessment& assessment);

}  // namespace cudaenv::commands
