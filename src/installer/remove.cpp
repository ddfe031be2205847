// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/product.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "installer/add_products.hpp"
#include "installer/rebuild.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

// `remove 12.8` is what other version managers call uninstall.
Result<void> check_no_toolkit(const std::string& typed, App& app) {
  const auto spec = core::parse_spec(typed);
  if (!spec) return {};
  bool is_toolkit = spec->kind != core::SpecKind::name;
  if (!is_toolkit && !core::find_product(app.facts.registry(), typed)) {
    CUDAENV_TRY(toolkits, store::registered_toolkits(app.roots));
    is_toolkit = std::any_of(toolkits.begin(), toolkits.end(), [&](const auto& one) { return one.name == typed; });
  }
  if (!is_toolkit) return {};
  return fail(ErrorKind::usage, fmt::format("remove takes a product out of a toolkit, and {} is a toolkit", typed),
              "cudaenv uninstall " + typed);
}

Error not_there(const std::string& typed, const store::Receipt& receipt, const core::Registry& registry) {
  const std::string release = core::to_text(receipt.release);
  Error error{ErrorKind::not_found,
              fmt::format("{} is not in CUDA {}", base::escaped(typed), release),
              "",
              {installer::added_text(receipt)}};
  std::vector<std::string_view> names;
  for (const store::ReceiptComponent& component : receipt.components) {
    if (component.product.empty() && component.name == typed) {
      error.message = fmt::format("{} is a component of the toolkit itself", typed);
      error.hint = fmt::format("cudaenv install {} --without {} --force", release, typed);
      return error;
    }
    if (!component.product.empty()) names.push_back(component.product);
  }
  const std::vector<std::string> near = base::did_you_mean(typed, names);
  if (!near.empty())
    error.hint = "cudaenv remove " + near.front();
  else if (const core::ProductRow* row = core::find_product(registry, typed))
    error.hint = fmt::format("cudaenv add {} --to {}", row->name, release);
  return error;
}

// The products' own names, each once.
Result<std::vector<std::string>> to_remove(const RemoveOptions& options, const store::Receipt& receipt,
                                           const core::Registry& registry) {
  std::vector<std::string> names;
  for (const std::string& typed : options.products) {
    CUDAENV_TRY(spec, core::parse_product_spec(typed));
    const core::ProductRow* row = core::find_product(registry, spec.name);
    const std::string name(row ? row->name : std::string_view(spec.name));
    const store::ReceiptComponent* there = receipt.find_product(name);
    const auto version = there ? core::parse_dotted_version(there->product_version) : std::nullopt;
    const auto own = there ? core::parse_dotted_version(there->version) : std::nullopt;
    const bool is_it =
        there && (!spec.version || (version && spec.matches(*version, own.value_or(core::DottedVersion{}))));
    if (!is_it) return fail(not_there(typed, receipt, registry));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<ExitCode> run(const RemoveOptions& options, App& app) {
  base::catch_interrupts();
  for (const std::string& typed : options.products) CUDAENV_CHECK(check_no_toolkit(typed, app));
  const std::string command = "cudaenv remove " + base::escaped(base::join(options.products, " "));
  CUDAENV_TRY(from, installer::changeable_toolkit(app, options.from, command + " --from"));
  CUDAENV_TRY(names, to_remove(options, from.receipt, app.facts.registry()));
  std::vector<std::string> texts;
  for (const std::string& name : names)
    texts.push_back(base::escaped(fmt::format("{} {}", name, from.receipt.find_product(name)->product_version)));
  installer::Change change;
  change.remove = names;
  change.command = fmt::format("{} --from {}", command, from.toolkit.name);
  auto outcome = installer::rebuild(app, from.toolkit, std::move(change));
  if (!outcome) return fail(std::move(outcome).error());
  const std::string removed = base::join(texts, ", ");
  if (auto refreshed = refresh_shims(app); !refreshed)
    return fail(stale_shims(std::move(refreshed).error()).during(fmt::format("{} itself is removed", removed)));
  app.output.note(fmt::format("removed from CUDA {}: {}", core::to_text(from.receipt.release), removed));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
