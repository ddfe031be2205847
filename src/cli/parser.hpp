// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "base/result.hpp"
#include "commands/options.hpp"
#include "commands/table.hpp"

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

// An option, or an argument by its position.
struct Parameter {
  std::vector<std::string> names;  // -q, --quiet; none: an argument
  std::string help;
  std::string value;  // a kind of value, "spec", or the words that there are, "bash|zsh|fish"; empty: a flag
  bool may_repeat = false;
  bool has_commas = false;  // several values may be typed as one word, with commas between them
};

// The program, a command or an action of one, with all that may be typed after its name. Hidden options are left out,
// hidden commands are not.
struct Shape {
  std::string name;
  std::string alias;
  std::string summary;
  commands::Visibility visibility = commands::Visibility::shown;
  std::vector<Parameter> parameters;
  std::vector<Shape> actions;
};

// What completion goes by: the table of commands, and the same declarations of options that parse() reads with.
[[nodiscard]] Shape program_shape();

}  // namespace cudaenv::cli
