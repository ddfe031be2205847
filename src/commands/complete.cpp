// SPDX-License-Identifier: Apache-2.0
// `complete`: what the completion scripts ask at a TAB. One candidate a line, a tab and its description; the shells
// pick those that fit what was typed. Only what is on disk or in the program is asked.
#include "commands/complete.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/file_choice.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "registry/builtin.hpp"
#include "shell/quote.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using Candidates = std::vector<std::pair<std::string, std::string>>;

std::string description_of(const store::Toolkit& toolkit) {
  std::vector<std::string> parts;
  const core::ReleaseRow* row = toolkit.release ? core::find_release(registry::builtin(), *toolkit.release) : nullptr;
  if (row && !row->released.empty()) parts.push_back(fmt::format("released {}", row->released));
  if (toolkit.adopted_from) parts.push_back("adopted from " + toolkit.adopted_from->native());
  if (toolkit.is_shared) parts.emplace_back("shared");
  if (toolkit.is_missing) parts.emplace_back("missing");
  return base::join(parts, ", ");
}

// The newest first.
Candidates candidates_of(const std::vector<store::Toolkit>& toolkits) {
  Candidates candidates;
  for (auto toolkit = toolkits.rbegin(); toolkit != toolkits.rend(); ++toolkit)
    candidates.emplace_back(toolkit->name, description_of(*toolkit));
  return candidates;
}

Result<Candidates> toolkits(const App& app, const std::string&) {
  CUDAENV_TRY(toolkits, store::registered_toolkits(app.roots));
  return candidates_of(toolkits);
}

Result<Candidates> specs(const App& app, const std::string&) {
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  Candidates candidates = candidates_of(toolkits);
  candidates.emplace_back("latest", "the newest that is installed");
  candidates.emplace_back("auto", "the newest installed that fits this machine");
  candidates.emplace_back("system", "what is there without cudaenv");
  return candidates;
}

Result<Candidates> releases(const App&, const std::string&) {
  Candidates candidates;
  const auto rows = registry::builtin().releases;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (!row->has_archives || row->is_preview) continue;
    std::string text;
    if (!row->released.empty()) text = fmt::format("released {}", row->released);
    if (row->minimum_driver.count > 0)
      text += fmt::format("{}driver {}", text.empty() ? "" : ", ", core::driver_text(row->minimum_driver));
    candidates.emplace_back(core::to_text(row->release), text);
  }
  candidates.emplace_back("latest", "the newest there is");
  candidates.emplace_back("auto", "the newest that fits this machine");
  return candidates;
}

Result<Candidates> components(const App&, const std::string&) {
  Candidates candidates;
  for (const core::ComponentRow& row : registry::builtin().components)
    if (core::is_in_full_profile(row.component_class) || row.component_class == core::ComponentClass::compat)
      candidates.emplace_back(row.name, row.summary);
  return candidates;
}

// What --without takes.
Result<Candidates> parts(const App& app, const std::string& word) {
  CUDAENV_TRY(candidates, components(app, word));
  for (const core::FileGroup& group : core::file_groups()) candidates.emplace_back(group.word, group.summary);
  return std::move(candidates);
}

Result<Candidates> products(const App&, const std::string&) {
  Candidates candidates;
  for (const core::ProductRow& row : registry::builtin().products) candidates.emplace_back(row.name, row.summary);
  return candidates;
}

Result<Candidates> tools(const App& app, const std::string&) {
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  std::map<std::string, std::string> having;
  for (auto toolkit = toolkits.rbegin(); toolkit != toolkits.rend(); ++toolkit) {
    CUDAENV_TRY(names, store::tools_of(*toolkit));
    for (std::string& name : names) {
      std::string& text = having[std::move(name)];
      text += (text.empty() ? "in " : ", ") + toolkit->name;
    }
  }
  return Candidates(having.begin(), having.end());
}

Result<Candidates> keys(const App&, const std::string&) {
  Candidates candidates;
  for (const store::SettingRow& row : store::setting_rows()) candidates.emplace_back(row.key, row.summary);
  return candidates;
}

// Of the setting before it.
Result<Candidates> values(const App&, const std::string& key) {
  Candidates candidates;
  const store::SettingRow* row = store::find_setting(key);
  if (!row) return candidates;
  const auto add = [&](std::string_view word) {
    candidates.emplace_back(word, word == row->fallback ? "the default" : "");
  };
  for (const std::string_view word : row->words) add(word);
  if (row->type == store::SettingType::boolean)
    for (const std::string_view word : {"true", "false"}) add(word);
  return candidates;
}

struct Kind {
  std::string_view name;
  Result<Candidates> (*list)(const App& app, const std::string& word_before);
};

constexpr Kind k_kinds[] = {{"spec", specs},           {"toolkit", toolkits}, {"release", releases},
                            {"component", components}, {"part", parts},       {"product", products},
                            {"tool", tools},           {"key", keys},         {"value", values}};

const Kind* find_kind(std::string_view name) {
  const auto found =
      std::find_if(std::begin(k_kinds), std::end(k_kinds), [&](const Kind& k) { return k.name == name; });
  return found == std::end(k_kinds) ? nullptr : found;
}

}  // namespace

bool is_listed_kind(std::string_view kind) { return find_kind(kind) != nullptr; }

Result<ExitCode> run(const CompleteOptions& options, App& app) {
  const Kind* kind = find_kind(options.kind);
  if (!kind)
    return fail(ErrorKind::usage, fmt::format("nothing of kind \"{}\" is listed", base::escaped(options.kind)));
  CUDAENV_TRY(candidates, kind->list(app, options.word));
  for (const auto& [word, description] : candidates) {
    if (shell::word(word) != word) continue;  // the scripts put it on the command line as it is
    app.output.data(fmt::format("{}{}{}\n", word, description.empty() ? "" : "\t", base::escaped(description)));
  }
  return ExitCode::done;
}

}  // namespace cudaenv::commands
