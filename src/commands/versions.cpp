// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "store/disk_use.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using base::Value;

std::string_view text_of(core::OriginKind kind) {
  switch (kind) {
    case core::OriginKind::none: return "none";
    case core::OriginKind::argument: return "argument";
    case core::OriginKind::variable: return "variable";
    case core::OriginKind::project_file: return "project";
    case core::OriginKind::global_file: return "global";
    case core::OriginKind::shared_file: return "shared";
    case core::OriginKind::process: break;  // only library shims have that
  }
  return "none";
}

bool is_selected(const store::Toolkit& toolkit, const store::Selected& selected) {
  return selected.is_toolkit() && toolkit.name == selected.name && !toolkit.is_missing;
}

// What the toolkits take; nothing of adopted ones, which are somebody else's.
struct Sizes {
  std::map<std::string, store::DiskUse> of;  // by name
  std::uint64_t total = 0;

  const store::DiskUse* find(const store::Toolkit& toolkit) const {
    const auto found = of.find(toolkit.name);
    return found == of.end() || toolkit.adopted_from ? nullptr : &found->second;
  }
};

Result<Sizes> sizes_of(const std::vector<store::Toolkit>& toolkits) {
  std::vector<std::string> names;
  std::vector<base::Path> trees;
  for (const store::Toolkit& toolkit : toolkits) {
    if (toolkit.adopted_from) continue;
    names.push_back(toolkit.name);
    trees.push_back(toolkit.directory);
  }
  CUDAENV_TRY(uses, store::disk_uses(trees));
  Sizes sizes;
  for (std::size_t i = 0; i < names.size(); ++i) sizes.of.emplace(names[i], uses.trees[i]);
  sizes.total = uses.total;
  return sizes;
}

Value document(const std::vector<store::Toolkit>& toolkits, const store::Selected& selected, const Sizes* sizes) {
  Value::Array list;
  for (const store::Toolkit& toolkit : toolkits) {
    Value::Object object{{"name", toolkit.name},
                         {"release", toolkit.release ? Value(core::to_text(*toolkit.release)) : Value()},
                         {"directory", toolkit.directory.native()},
                         {"adopted_from", toolkit.adopted_from ? Value(toolkit.adopted_from->native()) : Value()},
                         {"shared", toolkit.is_shared},
                         {"missing", toolkit.is_missing},
                         {"selected", is_selected(toolkit, selected)}};
    if (sizes) {
      const store::DiskUse* use = sizes->find(toolkit);
      object.emplace_back("size", use ? Value(use->own) : Value());
      object.emplace_back("shared_size", use ? Value(use->shared) : Value());
    }
    list.emplace_back(std::move(object));
  }
  Value::Object origin{{"kind", text_of(selected.origin)},
                       {"path", selected.origin_path.empty() ? Value() : Value(selected.origin_path)},
                       {"line", selected.origin_line == 0 ? Value() : Value(static_cast<int>(selected.origin_line))}};
  Value::Object document{{"versions", std::move(list)},
                         {"selected", Value::Object{{"spec", selected.word},
                                                    {"name", selected.is_toolkit() ? Value(selected.name) : Value()},
                                                    {"origin", std::move(origin)}}}};
  if (sizes) document.emplace_back("total_size", sizes->total);
  return document;
}

// The columns before a toolkit: its own bytes, those that it shares.
std::string columns(const std::string& own, const std::string& shared) {
  return fmt::format("{:>10} {:>10}  ", own, shared);
}

std::string columns(const store::DiskUse* use) {
  return use ? columns(base::human_size(use->own), base::human_size(use->shared)) : columns("-", "-");
}

std::string line_of(const store::Toolkit& toolkit, const store::Selected& selected) {
  const bool is_starred = is_selected(toolkit, selected);
  std::string line = fmt::format("{} {}", is_starred ? "*" : " ", toolkit.name);
  if (toolkit.adopted_from) line += " -> " + base::escaped(toolkit.adopted_from->native());
  if (toolkit.is_shared) line += " (shared)";
  if (toolkit.is_missing) line += " (missing)";
  if (is_starred) line += fmt::format(" ({})", base::escaped(selected.origin_text()));
  return line + "\n";
}

}  // namespace

Result<ExitCode> run(const VersionsOptions& options, App& app) {
  CUDAENV_TRY(toolkits, store::registered_toolkits(app.roots));
  if (options.bare) {
    for (const store::Toolkit& toolkit : toolkits)
      if (!toolkit.is_missing) app.output.data(toolkit.name + "\n");
    return ExitCode::done;
  }
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  std::optional<Sizes> sizes;
  if (options.size) {
    CUDAENV_TRY(measured, sizes_of(toolkits));
    sizes = std::move(measured);
  }
  if (options.json) {
    app.output.json(document(toolkits, chosen, sizes ? &*sizes : nullptr));
    return ExitCode::done;
  }
  if (sizes) app.output.data(columns("own", "shared") + "  toolkit\n");
  if (chosen.status == core::SelectionStatus::system)
    app.output.data(
        fmt::format("{}* system ({})\n", sizes ? columns(nullptr) : "", base::escaped(chosen.origin_text())));
  for (const store::Toolkit& toolkit : toolkits)
    app.output.data((sizes ? columns(sizes->find(toolkit)) : "") + line_of(toolkit, chosen));
  if (sizes) app.output.data(fmt::format("{}  in all, each file once\n", columns(base::human_size(sizes->total), "")));
  if (toolkits.empty()) app.output.note("no toolkit is installed; `cudaenv install --list` shows what there is");
  if (chosen.problem) app.output.warning(chosen.problem->message);
  return ExitCode::done;
}

}  // namespace cudaenv::commands
