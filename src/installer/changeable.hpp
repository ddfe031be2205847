// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "commands/app.hpp"
#include "store/receipt.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::installer {

// An installed toolkit that products can be put into and taken out of.
struct Changeable {
  store::Toolkit toolkit;
  store::Receipt receipt;
};

// The one that `typed` stands for, else the selected one. An error for one that is not installed
// (ErrorKind::not_installed), adopted, or in the shared root. `command`: what to type for another one, less its name.
[[nodiscard]] Result<Changeable> changeable_toolkit(commands::App& app, const std::optional<std::string>& typed,
                                                    const std::string& command);

}  // namespace cudaenv::installer
