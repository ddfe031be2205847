// SPDX-License-Identifier: Apache-2.0
#include "installer/add_products.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"
#include "installer/rebuild.hpp"

namespace cudaenv::installer {
namespace {

std::string version_in(const store::Receipt* receipt, std::string_view product) {
  const store::ReceiptComponent* there = receipt ? receipt->find_product(product) : nullptr;
  return there ? there->product_version : std::string();
}

// Without asking the network: whether the toolkit has what was asked for.
bool is_satisfied(const WantedProduct& wanted, const store::Receipt* receipt) {
  if (!receipt || wanted.spec.is_latest) return false;
  return std::any_of(receipt->components.begin(), receipt->components.end(), [&](const auto& component) {
    if (component.product != wanted.row->name) return false;
    const auto version = core::parse_dotted_version(component.product_version);
    const auto own = core::parse_dotted_version(component.version);
    return version && wanted.spec.matches(*version, own.value_or(core::DottedVersion{}));
  });
}

void tell_there(commands::App& app, const WantedProduct& wanted, const store::Receipt& receipt) {
  app.output.note(fmt::format("{} {} is in CUDA {} already", wanted.row->name,
                              base::escaped(version_in(&receipt, wanted.row->name)), core::to_text(receipt.release)));
}

// "cudnn 9.14.0", or "cudnn 9.13.0 -> 9.14.0" where it takes the place of that one.
std::string change_text(const PlannedProduct& product, const store::Receipt* receipt) {
  const std::string old = version_in(receipt, product.name);
  return old.empty() ? fmt::format("{} {}", product.name, product.version)
                     : fmt::format("{} {} -> {}", product.name, base::escaped(old), product.version);
}

}  // namespace

std::vector<std::string> licences_of(const std::vector<PlannedProduct>& products) {
  std::vector<std::string> texts;
  for (const PlannedProduct& product : products) {
    for (const core::PlannedComponent& planned : product.components) {
      const core::Component& component = *planned.component;
      std::string text = core::is_plain_relative_path(component.license_path)
                             ? product.sources.front().location.shown(component.license_path)
                             : base::escaped(fmt::format("{} ({})", component.license, product.name));
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string added_text(const store::Receipt& receipt) {
  std::vector<std::string> texts;
  for (const store::ReceiptComponent& component : receipt.components) {
    if (component.product.empty()) continue;
    std::string text = base::escaped(fmt::format("{} {}", component.product, component.product_version));
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts.empty() ? "nothing was added to it" : "added to it: " + base::join(texts, ", ");
}

Result<std::vector<std::string>> with_those_of(const store::Receipt& receipt, const std::vector<std::string>& typed,
                                               const core::Registry& registry) {
  CUDAENV_TRY(wanted, wanted_products(typed, registry, receipt.release));
  std::vector<std::string> all = typed;
  std::vector<std::string_view> names;
  for (const WantedProduct& product : wanted) names.push_back(product.row->name);
  for (const store::ReceiptComponent& component : receipt.components) {
    if (component.product.empty()) continue;
    if (std::find(names.begin(), names.end(), component.product) != names.end()) continue;
    names.push_back(component.product);
    all.push_back(fmt::format("{}@{}", component.product, component.product_version));
  }
  return all;
}

Result<std::vector<PlannedProduct>> missing_products(commands::App& app, const std::vector<WantedProduct>& wanted,
                                                     const store::Receipt* receipt,
                                                     const std::vector<redist::Source>& bases,
                                                     const ProductTarget& target) {
  std::vector<PlannedProduct> missing;
  for (const WantedProduct& product : wanted) {
    if (is_satisfied(product, receipt)) {
      tell_there(app, product, *receipt);
      continue;
    }
    CUDAENV_TRY(planned, plan_product(product, bases, target, app.facts.registry(), app.output));
    if (version_in(receipt, planned.name) == planned.version)
      tell_there(app, product, *receipt);
    else
      missing.push_back(std::move(planned));
  }
  return missing;
}

void print_products(commands::App& app, const std::vector<PlannedProduct>& products, const store::Receipt* receipt) {
  for (const PlannedProduct& product : products) {
    app.output.data(
        fmt::format("{} from {}\n", change_text(product, receipt), product.sources.front().location.shown()));
    for (const core::PlannedComponent& planned : product.components)
      app.output.data(fmt::format("  {:<24} {:<14} {:>10}\n", planned.component->name,
                                  base::escaped(planned.component->version), base::human_size(planned.archive.size)));
  }
}

Result<void> add_products(commands::App& app, const Changeable& into, std::vector<PlannedProduct> products,
                          const std::string& command) {
  const std::string release = core::to_text(into.receipt.release);
  std::vector<std::string> done;
  std::uint64_t size = 0;
  for (const PlannedProduct& product : products) {
    done.push_back(change_text(product, &into.receipt));
    size += product.download_size();
  }
  const std::string texts = base::join(done, ", ");
  app.output.note(fmt::format("adding to CUDA {}: {}; {} to fetch", release, texts, base::human_size(size)));
  app.output.note(
      fmt::format("NVIDIA's licence applies to what is fetched: {}", base::join(licences_of(products), ", ")));
  Change change;
  change.add = std::move(products);
  change.command = command;
  auto outcome = rebuild(app, into.toolkit, std::move(change));
  if (!outcome) return fail(std::move(outcome).error());
  if (auto refreshed = commands::refresh_shims(app); !refreshed)
    return fail(commands::stale_shims(std::move(refreshed).error()).during(fmt::format("{} itself is added", texts)));
  app.output.note(fmt::format("added to CUDA {}: {}", release, texts));
  return {};
}

}  // namespace cudaenv::installer
