// SPDX-License-Identifier: Apache-2.0
#include "installer/rebuild.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "installer/progress.hpp"
#include "installer/replaced.hpp"
#include "store/receipt.hpp"
#include "store/settings.hpp"

namespace cudaenv::installer {
namespace {

// What is to be installed, as a receipt has it: no manifest is needed for that.
class Planned {
 public:
  Planned(const store::Receipt& receipt, Change& change, const core::Registry& registry)
      : m_registry(registry), m_change(change) {
    m_origins.emplace("", redist::Origin{redist::opened_again(change.bases), core::to_text(receipt.release),
                                         receipt.manifest_sha256, receipt.source});
    for (const store::ReceiptComponent& component : receipt.components)
      if (stays(component)) keep(component);
    for (PlannedProduct& product : change.add) add(product);
    auto& components = m_plan.components;
    std::sort(components.begin(), components.end(),
              [](const auto& a, const auto& b) { return a.component->name < b.component->name; });
  }
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  const core::ComponentPlan& plan() const { return m_plan; }
  std::map<std::string, redist::Origin, std::less<>> take_origins() { return std::move(m_origins); }

 private:
  bool stays(const store::ReceiptComponent& component) const {
    if (component.product.empty()) return true;
    const auto& removed = m_change.remove;
    if (std::find(removed.begin(), removed.end(), component.product) != removed.end()) return false;
    return std::none_of(m_change.add.begin(), m_change.add.end(),
                        [&](const PlannedProduct& added) { return added.name == component.product; });
  }

  void keep(const store::ReceiptComponent& kept) {
    core::Component& component = m_components.emplace_back();
    component.name = kept.name;
    component.human_name = kept.human_name;
    component.license = kept.license;
    component.version = kept.version;
    core::PlannedComponent planned{&component,
                                   {kept.archive, kept.archive_sha256, kept.archive_size},
                                   core::find_component(m_registry, kept.name)};
    if (!kept.product.empty()) {
      planned.row = nullptr;
      planned.product = kept.product;
      planned.lib_directory = kept.lib_directory;
      if (const core::ProductRow* product = core::find_product(m_registry, kept.product)) {
        planned.place = product->place;
        m_origins.try_emplace(kept.product, origin_of(kept, *product));
      }
      m_origins.try_emplace(kept.product, origin_of(kept));
    }
    m_plan.components.push_back(std::move(planned));
  }

  static redist::Origin origin_of(const store::ReceiptComponent& kept) {
    return {{}, kept.product_version, kept.product_manifest_sha256, kept.product_source};
  }
  redist::Origin origin_of(const store::ReceiptComponent& kept, const core::ProductRow& product) const {
    redist::Origin origin = origin_of(kept);
    for (const redist::Source& base : m_change.bases) origin.sources.push_back(redist::product_source(base, product));
    return origin;
  }

  void add(PlannedProduct& product) {
    const std::string shown = product.sources.front().location.shown();
    m_origins.emplace(product.name,
                      redist::Origin{std::move(product.sources), product.version, product.manifest_sha256, shown});
    for (const core::PlannedComponent& planned : product.components) m_plan.components.push_back(planned);
  }

  const core::Registry& m_registry;
  const Change& m_change;
  std::deque<core::Component> m_components;  // at addresses that stay
  core::ComponentPlan m_plan;
  std::map<std::string, redist::Origin, std::less<>> m_origins;
};

// The new tree would be put into the place of that other toolkit, which nobody has locked.
Error of_another(const store::Toolkit& toolkit, const core::Version& release) {
  Error error{ErrorKind::integrity,
              fmt::format("the receipt of {} is that of CUDA {}", base::escaped(toolkit.name), core::to_text(release))};
  if (toolkit.release) error.hint = fmt::format("cudaenv install {} --force", toolkit.name);
  return error;
}

Result<redist::InstallOutcome> carry_out(commands::App& app, const store::Toolkit& toolkit, Change& change) {
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  const auto waiting = [&](long process) {
    app.output.waiting(process == 0 ? fmt::format("waiting for another cudaenv that works on {}", toolkit.name)
                                    : fmt::format("waiting for process {}, which works on {}", process, toolkit.name));
  };
  CUDAENV_TRY(site, redist::open_site(app.roots.own, toolkit.name, waiting));
  auto receipt = store::read_receipt(toolkit.directory);
  if (!receipt && receipt.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_installed, fmt::format("{} has been uninstalled meanwhile", toolkit.name),
                fmt::format("cudaenv install {}", toolkit.name));
  if (!receipt) return fail(std::move(receipt).error());
  if (core::to_text(receipt->release) != toolkit.name) return fail(of_another(toolkit, receipt->release));
  const bool is_repair = !change.bases.empty();
  Planned planned(*receipt, change, app.facts.registry());

  redist::InstallRequest request;
  request.release = receipt->release;
  request.platform = receipt->platform;
  request.choice.profile = core::parse_profile(receipt->profile).value_or(core::Profile::standard);
  request.choice.with = receipt->with;
  request.choice.without = receipt->without;
  request.origins = planned.take_origins();
  request.replace = true;
  request.keeps_additions = true;
  request.extends = !is_repair;
  request.jobs = static_cast<unsigned>(settings.number("install.jobs"));
  request.keeps_archives = settings.is_on("install.keep_archives");
  request.command = change.command;
  Progress progress(app.output, planned.plan(), Progress::Lines::fetched);
  CUDAENV_TRY(outcome, redist::install_at(std::move(site), planned.plan(), request, app.roots.own, progress));
  if (outcome.replaced) {
    remove_replaced(std::move(*outcome.replaced), toolkit.name, app.output);
    outcome.replaced.reset();
  }
  return std::move(outcome);
}

}  // namespace

Result<redist::InstallOutcome> rebuild(commands::App& app, const store::Toolkit& toolkit, Change change) {
  auto outcome = carry_out(app, toolkit, change);
  if (!outcome && outcome.error().kind == ErrorKind::interrupted)
    return fail(std::move(outcome).error().during("nothing was changed"));
  return outcome;
}

}  // namespace cudaenv::installer
