// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "base/result.hpp"
#include "commands/options.hpp"

namespace cudaenv::cli {

struct GlobalOptions {
  base::Verbosity verbosity = base::Verbosity::normal;
  base::ColorChoice color = base::ColorChoice::automatic;
};

// What a command line asks for: a command's options, or a text to print and be done (help, version; or help on
// stderr, as the answer to a command line without a command).
struct Invocation {
  GlobalOptions global;
  std::optional<commands::Options> options;
  std::string text;
  bool is_misuse = false;
};

// Reads the arguments after the program's name. ErrorKind::usage, with what may have been meant.
[[nodiscard]] Result<Invocation> parse(std::vector<std::string> arguments);

}  // namespace cudaenv::cli
