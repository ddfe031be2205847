// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/completion_text.hpp"
#include "commands/complete.hpp"
#include "commands/run.hpp"
#include "commands/shells.hpp"

// Each script is a text that never changes (completion_text.hpp) with lists filled in, made here by a walk over the
// shape of the program.

namespace cudaenv::cli {
namespace {

using shell::Shell;

bool is_argument(const Parameter& parameter) { return parameter.names.empty(); }
bool is_words(const std::string& value) { return value.find('|') != std::string::npos; }
bool is_directory(const std::string& value) { return value == "directory" || value == "url"; }
bool is_listed(const std::string& value) { return commands::is_listed_kind(value); }
bool runs_program(const Shape& shape) {
  return std::any_of(shape.parameters.begin(), shape.parameters.end(),
                     [](const Parameter& parameter) { return parameter.value == "program"; });
}

// The names of the actions that are shown.
std::string words_of(const std::vector<Shape>& actions) {
  std::vector<std::string> names;
  for (const Shape& action : actions)
    if (action.visibility == commands::Visibility::shown) names.push_back(action.name);
  return base::join(names, "|");
}

std::string spaced(std::string words) {
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out(text);
  for (const auto& [name, value] : values)
    if (const std::size_t at = out.find(name); at != std::string::npos) out.replace(at, name.size(), value);
  return out;
}

// --- bash: a table of what may follow a command, and a walk over the words that looks up what is due ---

// "spec...", "component,", "auto|always|never"; "none" for what cannot be known.
std::string bash_kind(const Parameter& parameter) {
  const std::string& value = parameter.value;
  const bool is_known = is_words(value) || is_directory(value) || is_listed(value) || value == "program";
  std::string kind = is_known ? value : "none";
  if (parameter.has_commas) kind += ',';
  if (is_argument(parameter) && parameter.may_repeat) kind += "...";
  return kind;
}

std::string bash_row(const Shape& shape, const std::string& pattern) {
  std::vector<std::string> options;
  std::vector<std::string> arguments;
  std::string values;
  for (const Parameter& parameter : shape.parameters) {
    if (is_argument(parameter)) arguments.push_back(bash_kind(parameter));
    options.insert(options.end(), parameter.names.begin(), parameter.names.end());
    for (const std::string& name : parameter.names)
      if (!parameter.value.empty()) values += fmt::format(" {}={}", name, bash_kind(parameter));
  }
  std::string row = fmt::format("    {})\n      options='{}'\n", pattern, base::join(options, "|"));
  if (!values.empty()) row += fmt::format("      values='{} '\n", values);
  if (!arguments.empty()) row += fmt::format("      arguments='{}'\n", base::join(arguments, " "));
  if (!shape.actions.empty()) row += fmt::format("      arguments='{}' actions=1\n", words_of(shape.actions));
  return row + "      ;;\n";
}

std::string bash_rows(const Shape& shape, const std::vector<std::string>& paths) {
  std::string pattern;
  for (const std::string& path : paths) pattern += (pattern.empty() ? "" : " | ") + shell::quote(Shell::bash, path);
  std::string rows = bash_row(shape, pattern);
  for (const Shape& action : shape.actions) {
    std::vector<std::string> below;
    for (const std::string& path : paths) {
      const std::string before = path.empty() ? "" : path + " ";
      below.push_back(before + action.name);
      if (!action.alias.empty()) below.push_back(before + action.alias);
    }
    rows += bash_rows(action, below);
  }
  return rows;
}

// --- zsh: a function a command, which hands what may follow to _arguments ---

// In an argument of _arguments or the first part of one of _describe.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(":[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// What completes a value: ":kind:action"
std::string zsh_value(const Parameter& parameter) {
  const std::string& value = parameter.value;
  if (value.empty()) return {};
  if (is_words(value)) return fmt::format(":{}:({})", is_argument(parameter) ? "word" : "value", spaced(value));
  std::string action = " ";
  if (is_directory(value))
    action = "_files -/";
  else if (is_listed(value))
    action = fmt::format(" {}_cudaenv_values {}", parameter.has_commas ? "_sequence " : "", value);
  return fmt::format(":{}:{}", value, action);
}

std::vector<std::string> zsh_specs(const Shape& shape) {
  std::vector<std::string> specs;
  int position = 0;
  for (const Parameter& parameter : shape.parameters) {
    if (parameter.value == "program") {
      specs.insert(specs.end(), {"(-)1:program:_command_names -e", "(-)*::argument:_normal"});
    } else if (is_argument(parameter)) {
      const std::string where = parameter.may_repeat ? "*" : std::to_string(++position);
      specs.push_back(where + zsh_value(parameter));
    }
    const std::string excluded = fmt::format("({})", base::join(parameter.names, " "));
    for (const std::string& name : parameter.names) {
      const bool takes_equals = !parameter.value.empty() && name.starts_with("--");
      specs.push_back(fmt::format("{}{}{}[{}]{}", parameter.may_repeat ? "*" : excluded, name, takes_equals ? "=" : "",
                                  zsh_escaped(parameter.help), zsh_value(parameter)));
    }
  }
  return specs;
}

std::string zsh_actions(const Shape& shape, const std::string& function) {
  std::string names;
  std::string cases;
  for (const Shape& action : shape.actions) {
    if (action.visibility == commands::Visibility::shown)
      names += fmt::format("        {}\n", shell::quote(Shell::zsh, action.name + ":" + action.summary));
    const std::string pattern = action.alias.empty() ? action.name : action.name + "|" + action.alias;
    cases += fmt::format("        ({}) {}-{} && ret=0 ;;\n", pattern, function, action.name);
  }
  return replaced(k_zsh_actions, {{"@NAMES@", names}, {"@CASES@", cases}});
}

std::string zsh_functions(const Shape& shape, const std::string& function) {
  std::string text = fmt::format("{}() {{\n", function);
  if (!shape.actions.empty()) text += "  local curcontext=$curcontext state line ret=1\n  local -A opt_args\n";
  text += fmt::format("  _arguments -S {}", shape.actions.empty() ? ":" : "-C :");
  for (const std::string& spec : zsh_specs(shape)) text += " \\\n    " + shell::quote(Shell::zsh, spec);
  if (!shape.actions.empty())
    text += " \\\n    '(-)1: :->action' '(-)*:: :->rest' && ret=0\n" + zsh_actions(shape, function);
  text += shape.actions.empty() ? "\n}\n\n" : "}\n\n";
  for (const Shape& action : shape.actions) text += zsh_functions(action, function + "-" + action.name);
  return text;
}

// --- fish: a line an option or argument, each with the place where it may stand ---

struct FishLists {
  std::string value_options;  // patterns "COMMAND OPTION" of the options with a value
  std::string steps;          // cases that lead from a command and a word to an action
  std::string runners;        // commands that run another program
  std::string completions;
};

std::string fish_value(const Parameter& parameter) {
  const std::string& value = parameter.value;
  if (is_words(value)) return " -a " + shell::quote(Shell::fish, spaced(value));
  if (is_directory(value)) return " -a '(__fish_complete_directories)'";
  if (value == "program") return " -a '(__cudaenv_program_line)'";
  if (!is_listed(value)) return {};
  if (parameter.has_commas) return fmt::format(" -a \"(__fish_complete_list , '__cudaenv_values {}')\"", value);
  return fmt::format(" -k -a '(__cudaenv_values {})'", value);
}

std::string fish_line(const std::string& condition, const std::string& rest) {
  return fmt::format("complete -c cudaenv -n \"__cudaenv_at {}\"{}\n", condition, rest);
}

std::string fish_option(const Parameter& parameter, const std::string& condition) {
  std::string rest;
  for (const std::string& name : parameter.names)
    rest += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!parameter.value.empty()) rest += " -x" + fish_value(parameter);
  return fish_line(condition, rest + " -d " + shell::quote(Shell::fish, parameter.help));
}

void add_fish(const Shape& shape, const std::string& path, FishLists& lists) {
  const std::string quoted = shell::quote(Shell::fish, path);
  int position = 0;
  if (runs_program(shape)) lists.runners += fmt::format(" {}", quoted);
  // What follows an action or a program is no option of this command.
  const bool is_ended = !shape.actions.empty() || runs_program(shape);
  for (const Parameter& parameter : shape.parameters) {
    if (!is_argument(parameter)) {
      lists.completions += fish_option(parameter, is_ended ? quoted + " 0 0" : quoted);
    } else if (const std::string value = fish_value(parameter); !value.empty()) {
      const std::string most = parameter.may_repeat ? "" : fmt::format(" {}", position);
      lists.completions += fish_line(fmt::format("{} {}{}", quoted, position, most), value);
    }
    if (is_argument(parameter)) ++position;
    for (const std::string& name : parameter.names)
      if (!parameter.value.empty())
        lists.value_options += fmt::format(" {}", shell::quote(Shell::fish, path + " " + name));
  }
  for (const Shape& action : shape.actions) {
    const std::string below = path.empty() ? action.name : path + " " + action.name;
    lists.steps += "        case " + shell::quote(Shell::fish, path + " " + action.name);
    if (!action.alias.empty()) lists.steps += " " + shell::quote(Shell::fish, path + " " + action.alias);
    lists.steps += fmt::format("\n            echo {}\n", shell::quote(Shell::fish, below));
    if (action.visibility == commands::Visibility::shown)
      lists.completions += fish_line(
          quoted + " 0 0", fmt::format(" -a {} -d {}", action.name, shell::quote(Shell::fish, action.summary)));
    add_fish(action, below, lists);
  }
}

}  // namespace

std::string completion_script(Shell shell, const Shape& program) {
  // `help` takes the name of a command.
  Shape shape = program;
  for (Shape& action : shape.actions)
    for (Parameter& parameter : action.parameters)
      if (parameter.value == "command") parameter.value = words_of(program.actions);
  switch (shell) {
    case Shell::bash: return replaced(k_bash_script, {{"@ROWS@", bash_rows(shape, {""})}});
    case Shell::zsh: return replaced(k_zsh_script, {{"@FUNCTIONS@", zsh_functions(shape, "_cudaenv")}});
    case Shell::fish: break;
  }
  FishLists lists;
  add_fish(shape, "", lists);
  return replaced(k_fish_script, {{"@VALUE_OPTIONS@", lists.value_options},
                                  {"@STEPS@", lists.steps},
                                  {"@RUNNERS@", lists.runners},
                                  {"@COMPLETIONS@", lists.completions}});
}

}  // namespace cudaenv::cli

namespace cudaenv::commands {

Result<ExitCode> run(const CompletionsOptions& options, App& app) {
  CUDAENV_TRY(shell, parse_shell(options.shell, "cudaenv completions bash"));
  app.output.data(cli::completion_script(shell, cli::program_shape()));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
