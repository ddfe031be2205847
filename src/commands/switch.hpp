// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "commands/app.hpp"
#include "shell/quote.hpp"

namespace cudaenv::commands {

// What a hook asks for when the text that selects a toolkit has changed: the environment of what is selected now, or,
// where that cannot be had, the one without any toolkit, with the reason on stderr. Always done: a prompt has no use
// for an exit code.
[[nodiscard]] Result<ExitCode> print_switch(App& app, shell::Shell shell);

}  // namespace cudaenv::commands
