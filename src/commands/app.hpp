// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/exit_code.hpp"
#include "base/files.hpp"
#include "base/output.hpp"
#include "base/result.hpp"
#include "commands/facts.hpp"
#include "commands/machine.hpp"
#include "core/spec.hpp"
#include "store/roots.hpp"
#include "store/selected.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {

// What a command works with, built once in main and handed down. A command has no other way to the world.
struct App {
  const base::Environment& environment;
  base::Output& output;
  store::Roots roots;
  base::Path program;                // the running program
  base::Path main_program;           // cudaenv, also where its installer runs
  base::Path shim_program;           // what ROOT/shims is filled with
  base::Path library_shim_template;  // what ROOT/shims/lib is filled with is made of it
  base::Path hook_program;           // what a shell's hook starts in place of cudaenv

  Facts& facts;
  Machine& machine;
};

// A spec as a person typed it. ErrorKind::config for anything else, with what was expected.
[[nodiscard]] Result<core::Spec> parse_typed_spec(std::string_view text);

// What `typed` stands for among the installed toolkits or, without it, what is selected here; warnings are printed.
// The error of a selection that cannot be obeyed.
[[nodiscard]] Result<store::Selected> selected_or_error(App& app, const std::optional<std::string>& typed);

// The same without obeying: a problem is in the result.
[[nodiscard]] Result<store::Selected> selected(App& app, const std::optional<std::string>& typed);

// The settings in force for a selection, warnings printed.
[[nodiscard]] Result<store::Settings> settings_for(App& app, const store::Selected& selected);

// The error of a spec that is not installed, with what the registry knows against its number, or what word was meant.
[[nodiscard]] Error explained(App& app, const core::Spec& spec, Error error);

// Brings ROOT/shims up to date.
[[nodiscard]] Result<void> refresh_shims(App& app);

// The error of refreshing them after a change that stands all the same.
[[nodiscard]] Error stale_shims(Error error);

}  // namespace cudaenv::commands
