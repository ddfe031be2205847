// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"
#include "commands/app.hpp"
#include "core/check.hpp"
#include "store/selected.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {

enum class Telling {
  all,       // what is unknown too, and what is odd about the machine
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
// ErrorKind::incompatible: which check failed, what would work, and how to override. Only toolkits are looked at; the
// verdict on anything else, and with the gate off, is ok.
[[nodiscard]] Result<core::Verdict> pass_gate(App& app, const store::Selected& selected,
                                              const store::Settings& settings, const Passage& passage);

// Puts the toolkit that a selected `auto` stands for into the selection: the newest installed one that is right for
// this machine. Its `problem` is set if none is.
[[nodiscard]] Result<void> choose_automatic(App& app, store::Selected& selected);

// Says in one line what the gate would say of a toolkit that has come to this machine, if that is other than ok: an
// install is for any machine, so the gate has no say in it, but who is here should know. Returns what has to follow
// `local VERSION` to have it all the same: nothing, or " --force".
[[nodiscard]] Result<std::string> foretell(App& app, const core::ToolkitFacts& toolkit);

// What is other than ok, in one line; empty if nothing is.
std::string one_line(const core::Assessment& assessment);

}  // namespace cudaenv::commands
