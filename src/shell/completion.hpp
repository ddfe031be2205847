// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "shell/quote.hpp"

namespace cudaenv::shell {

// The end of the integration: completion that costs nothing until it is first asked for, when the completion script
// takes its place. Goes by __cudaenv_program; has no comments, which a shell may have switched off.
std::string_view completion_loader(Shell shell);

}  // namespace cudaenv::shell
