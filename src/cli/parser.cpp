// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/bind.hpp"
#include "cli/help.hpp"
#include "commands/table.hpp"

// Only this file and cli/bind see CLI11. Each command has a function that ties its options to the parser; all the rest
// of the program gets is a filled-in options struct.

namespace cudaenv::cli {
namespace {

using namespace commands;
using cli::bind;  // those below would hide it

// What help shows in place of a value that is one of a few words: "bash|zsh|fish".
constexpr const char* k_shells = "bash|zsh|fish";

void bind(CLI::App& app, UninstallOptions& options) {
  app.add_option("version", options.versions, "12.8.1, or the name of an adopted toolkit")
      ->required()
      ->type_name("TOOLKIT");
}

void bind(CLI::App& app, VerifyOptions& options) {
  CLI::Option* versions =
      app.add_option("version", options.versions, "12, 12.8, 12.8.1, or an adopted one; default: the selected one")
          ->type_name("TOOLKIT");
  app.add_flag("--all", options.all, "all installed toolkits")->excludes(versions);
  app.add_flag("--json", options.json, "one JSON document");
}

void bind(CLI::App& app, PruneOptions& options) {
  app.add_flag("--dry-run", options.dry_run, "show what would be removed, and stop");
}

void bind(CLI::App& app, VersionsOptions& options) {
  CLI::Option* bare = app.add_flag("--bare", options.bare, "names only, one a line");
  app.add_flag("--json", options.json, "one JSON document")->excludes(bare);
  app.add_flag("--size", options.size, "what each takes on the disk, and shares with others")->excludes(bare);
}

void bind(CLI::App&, VersionOptions&) {}
void bind(CLI::App&, RootOptions&) {}
void bind(CLI::App&, RehashOptions&) {}

void bind(CLI::App& app, PinOptions& options) {
  option(app, "spec", options.spec, "12, 12.8, 12.8.1, latest, auto, system, or an adopted toolkit");
  app.add_flag("--unset", options.unset, "remove the file");
  app.add_flag("--force", options.force, "set what is not installed too, or what the gate refuses");
}

void bind(CLI::App& app, WhichOptions& options) {
  app.add_option("tool", options.tool, "nvcc, ptxas, ..., or libcudart.so.13")->required();
}
void bind(CLI::App& app, WhenceOptions& options) {
  app.add_option("tool", options.tool, "nvcc, ptxas, ...")->required();
}
void bind(CLI::App& app, PrefixOptions& options) {
  option(app, "spec", options.spec, "which toolkit; default: the selected one");
}
void bind(CLI::App& app, ExecOptions& options) {
  option(app, "-v,--version", options.spec, "which toolkit; default: the selected one")->type_name("SPEC");
  const auto for_shims = [&](const char* name) { app.get_option(name)->group(""); };
  option(app, "--shim", options.shim, "the tool that a shim stands for");
  for_shims("--shim");
  option(app, "--shim-root", options.shim_root, "the root that it lies in");
  for_shims("--shim-root");
}

void bind(CLI::App& app, CheckOptions& options) {
  app.add_option("spec", options.specs, "12, 12.8, latest, auto, or an adopted one; default: all installed")
      ->type_name("TOOLKIT");
  option(app, "--driver", options.driver, "another machine's driver: 550.54.14, or none");
  list_option(app, "--gpu", options.gpus, "GPU", "another machine's GPU: 8.6, or \"RTX 4090\"; or none");
  app.add_flag("--json", options.json, "one JSON document");
}

void bind(CLI::App& app, InfoOptions& options) { app.add_flag("--json", options.json, "one JSON document"); }

void bind(CLI::App& app, EnvOptions& options) {
  option(app, "spec", options.spec, "which toolkit; default: the selected one");
  app.add_option("--shell", options.shell, "the shell that will read it")->type_name(k_shells);
  app.add_option("--format", options.format, "how it is written")->type_name("sh|dotenv|json|github|modulefile");
  app.add_flag("--hook", options.hook, "for the shell integration")->group("");
}

void bind(CLI::App& app, InitOptions& options) {
  app.add_option("shell", options.shell, "the shell that will read it")->required()->type_name(k_shells);
}

void bind(CLI::App& app, CompletionsOptions& options) {
  app.add_option("shell", options.shell, "the shell that will read it")->required()->type_name(k_shells);
}

void bind(CLI::App& app, CompleteOptions& options) {
  app.add_option("kind", options.kind, "what is wanted: spec, toolkit, tool, ...")->required();
  app.add_option("word", options.word, "the word before it");
}

void bind(CLI::App& app, ShellOptions& options) {
  option(app, "spec", options.spec, "12, 12.8, 12.8.1, latest, auto, system, or an adopted toolkit");
  app.add_flag("--unset", options.unset, "as if nothing had been set");
  app.add_flag("--force", options.force, "set what is not installed too, or what the gate refuses");
  app.add_option("--emit", options.emit, "for the shell integration")->group("");
}

void bind(CLI::App& app, AdoptOptions& options) {
  app.add_option("directory", options.directory, "the toolkit's directory, /usr/local/cuda-12.8")->required();
  app.add_option("--name", options.name, "what to call it; default: its release");
}

void bind(CLI::App& app, ConfigOptions& options) {
  app.require_subcommand(0, 1);
  const auto action = [&](const char* name, const char* help) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([&options, name] { options.action = name; });
    sub->fallthrough();  // --quiet and the like may follow
    return sub;
  };
  action("list", "all settings and who set each");
  action("get", "the value of a setting")->add_option("key", options.key)->required();
  CLI::App* set = action("set", "change a setting in config.toml");
  set->add_option("key", options.key)->required();
  set->add_option("value", options.values)->required();
  action("unset", "remove a setting from config.toml")->add_option("key", options.key)->required();
}

void bind_global(CLI::App& app, GlobalOptions& global) {
  app.add_flag_callback(
      "-q,--quiet", [&global] { global.verbosity = base::Verbosity::quiet; },
      "say nothing but data, warnings and errors");
  app.add_flag_callback(
      "--verbose", [&global] { global.verbosity = base::Verbosity::verbose; }, "say more");
  app.add_option_function<std::string>(
         "--color",
         [&global](const std::string& when) {
           global.color = when == "always"  ? base::ColorChoice::always
                          : when == "never" ? base::ColorChoice::never
                                            : base::ColorChoice::automatic;
         },
         "when to use colour")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->type_name("auto|always|never");
}

// What may stand before a command's name. For lists alone: parse_without_command knows what to do with it.
void bind_main(CLI::App& app, GlobalOptions& global) {
  bind_global(app, global);
  app.add_flag_callback(
      "-V,--version", [] {}, "version of cudaenv");
}

// `exec` runs whatever follows its own options; none of that is ours to parse. Cuts it off the arguments.
std::vector<std::string> take_command(std::vector<std::string>& arguments, std::size_t exec_at) {
  std::size_t at = exec_at + 1;
  while (at < arguments.size() && arguments[at].starts_with('-') && arguments[at] != "--") {
    const bool takes_value = arguments[at] == "-v" || arguments[at] == "--version" || arguments[at] == "--color";
    at += takes_value ? 2 : 1;
  }
  at = std::min(at, arguments.size());
  const bool has_separator = at < arguments.size() && arguments[at] == "--";
  std::vector<std::string> command(arguments.begin() + static_cast<std::ptrdiff_t>(at + (has_separator ? 1 : 0)),
                                   arguments.end());
  arguments.resize(at);
  return command;
}

// Where the command's name stands; the number of arguments if there is none.
std::size_t find_name(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--color")
      ++i;
    else if (!arguments[i].starts_with('-'))
      return i;
  }
  return arguments.size();
}

// Words of other version managers for what is called differently here.
constexpr std::pair<std::string_view, std::string_view> k_foreign_words[] = {
    {"use", "local"},    {"switch", "local"},         {"ls", "versions"}, {"ls-remote", "install --list"},
    {"rm", "uninstall"}, {"search", "install --list"}};

Error unknown_command(const std::string& typed) {
  for (const auto& [foreign, ours] : k_foreign_words)
    if (typed == foreign)
      return Error{ErrorKind::usage, fmt::format("there is no command \"{}\"", typed), fmt::format("cudaenv {}", ours)};
  std::vector<std::string_view> names;
  for (const CommandRow& row : command_rows()) {
    if (row.visibility != Visibility::shown) continue;
    names.push_back(row.name);
    if (!row.alias.empty()) names.push_back(row.alias);
  }
  const std::vector<std::string> near = base::did_you_mean(typed, names);
  return Error{ErrorKind::usage, fmt::format("there is no command \"{}\"", base::escaped(typed)),
               near.empty() ? "cudaenv help" : "cudaenv " + base::join(near, "   or   cudaenv ")};
}

// What may have been meant by an option (its value, after `=`, left aside) or by another word.
void add_nearest(Error& error, std::string_view typed, const std::vector<std::string_view>& known) {
  const auto near = base::did_you_mean(typed.substr(0, typed.find('=')), known);
  if (!near.empty()) error.details.push_back(fmt::format("did you mean {}?", base::join(near, " or ")));
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  return names;
}

// CLI11's words for what is wrong, with the nearest option where one was misspelt.
Error usage_error(const CLI::ParseError& error, const CLI::App& app, const CommandRow& row) {
  Error result{ErrorKind::usage, fmt::format("{}: {}", row.name, base::escaped(error.what())),
               fmt::format("cudaenv help {}", row.name)};
  std::vector<std::string> known = long_names(app);
  for (const CLI::App* action : app.get_subcommands(nullptr)) known.push_back(action->get_name());
  for (const std::string& typed : app.remaining()) add_nearest(result, typed, {known.begin(), known.end()});
  return result;
}

// One before any command.
Error unknown_option(const std::string& typed) {
  Error error{ErrorKind::usage, fmt::format("there is no option \"{}\"", base::escaped(typed)), "cudaenv help"};
  CLI::App app;
  GlobalOptions global;
  bind_main(app, global);
  const std::vector<std::string> known = long_names(app);
  add_nearest(error, typed, {known.begin(), known.end()});
  return error;
}

Result<Invocation> parse_command(const CommandRow& row, std::vector<std::string> arguments) {
  Invocation invocation;
  Options options = row.make();
  std::vector<std::string> command;
  const std::size_t name_at = find_name(arguments);
  if (row.name == "exec") command = take_command(arguments, name_at);
  arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(name_at));

  CLI::App app(std::string(row.summary), fmt::format("cudaenv {}", row.name));
  bind_global(app, invocation.global);
  std::visit([&](auto& bound) { bind(app, bound); }, options);
  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    invocation.text = command_help(row, app.help());
    return invocation;
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(error, app, row));
  }
  if (auto* exec = std::get_if<ExecOptions>(&options)) exec->command = std::move(command);
  invocation.options = std::move(options);
  return invocation;
}

Invocation page(std::string text) {
  Invocation invocation;
  invocation.text = std::move(text);
  return invocation;
}

Result<Invocation> parse_without_command(const std::vector<std::string>& arguments) {
  const auto has = [&](const char* name) {
    return std::find(arguments.begin(), arguments.end(), name) != arguments.end();
  };
  if (has("--version") || has("-V")) return page(version_text());
  if (has("--help") || has("-h")) return page(main_help());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--color")
      ++i;  // over its value
    else if (argument != "-q" && argument != "--quiet" && argument != "--verbose" && !argument.starts_with("--color="))
      return fail(unknown_option(argument));
  }
  Invocation invocation = page(main_help());
  invocation.is_misuse = true;
  return invocation;
}

// What the value of an option or an argument is, in lower case: what help shows in its place, or its own name.
std::string value_of(const CLI::Option& option) {
  std::string value = option.get_type_name();
  if (value.empty() || value == "TEXT")
    value = option.get_positional() ? option.get_name(true) : option.get_lnames().front();
  for (char& c : value)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return value;
}

Parameter parameter_of(const CLI::Option& option) {
  Parameter parameter;
  for (const std::string& name : option.get_snames()) parameter.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) parameter.names.push_back("--" + name);
  parameter.help = option.get_description();
  if (option.get_items_expected_max() != 0) parameter.value = value_of(option);
  parameter.may_repeat =
      option.get_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  parameter.has_commas = option.get_delimiter() == ',';
  return parameter;
}

void add_parameters(const CLI::App& app, std::vector<Parameter>& parameters) {
  for (const CLI::Option* option : app.get_options()) {
    const bool is_hidden = !option->get_positional() && option->get_group().empty();
    Parameter parameter = parameter_of(*option);
    const auto is_same = [&](const Parameter& other) { return !other.names.empty() && other.names == parameter.names; };
    if (!is_hidden && std::none_of(parameters.begin(), parameters.end(), is_same))
      parameters.push_back(std::move(parameter));
  }
}

Shape shape_of(const CommandRow& row) {
  Shape shape{std::string(row.name), std::string(row.alias), std::string(row.summary), row.visibility, {}, {}};
  CLI::App app;
  GlobalOptions global;
  bind_global(app, global);
  Options options = row.make ? row.make() : Options();
  if (row.make)
    std::visit([&](auto& bound) { bind(app, bound); }, options);
  else
    app.add_option("command");
  add_parameters(app, shape.parameters);
  if (row.name == "exec") shape.parameters.push_back({{}, "what to run", "program", true, false});
  for (const CLI::App* action : app.get_subcommands(nullptr)) {
    Shape& added = shape.actions.emplace_back();
    added.name = action->get_name();
    added.summary = action->get_description();
    add_parameters(*action, added.parameters);
    add_parameters(app, added.parameters);
  }
  return shape;
}

}  // namespace

Shape program_shape() {
  Shape shape{"cudaenv", {}, {}, Visibility::shown, {}, {}};
  CLI::App app;
  GlobalOptions global;
  bind_main(app, global);
  add_parameters(app, shape.parameters);
  for (const CommandRow& row : command_rows()) shape.actions.push_back(shape_of(row));
  return shape;
}

Result<Invocation> parse(std::vector<std::string> arguments) {
  const std::size_t at = find_name(arguments);
  if (at == arguments.size()) return parse_without_command(arguments);
  const CommandRow* row = find_command(arguments[at]);
  if (!row) return fail(unknown_command(arguments[at]));
  if (row->name != "help") return parse_command(*row, std::move(arguments));

  for (std::size_t i = at + 1; i < arguments.size(); ++i) {
    if (arguments[i].starts_with('-')) continue;
    const CommandRow* subject = find_command(arguments[i]);
    if (!subject) return fail(unknown_command(arguments[i]));
    if (subject->name != "help") return parse_command(*subject, {std::string(subject->name), "--help"});
  }
  return page(main_help());
}

}  // namespace cudaenv::cli
