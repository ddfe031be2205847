// SPDX-License-Identifier: Apache-2.0
#include "installer/wanted.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/file_choice.hpp"
#include "core/platform.hpp"
#include "core/version_text.hpp"
#include "installer/add_products.hpp"
#include "installer/retyped.hpp"
#include "installer/sources.hpp"
#include "store/machine.hpp"

namespace cudaenv::installer {
namespace {

using commands::App;
using commands::InstallOptions;

Result<core::ComponentChoice> choice_of(const InstallOptions& options, const core::Version& release) {
  core::ComponentChoice choice{core::Profile::standard, options.with, options.without};
  if (options.profile.empty()) return choice;
  CUDAENV_TRY(profile,
              typed_profile(options.profile, fmt::format("cudaenv install {} --profile minimal", to_text(release))));
  choice.profile = profile;
  return choice;
}

// What was asked away in so many words and is there.
std::vector<std::string> unwanted_in(const store::Receipt& receipt, const std::vector<std::string>& without) {
  std::vector<std::string> there = core::FileChoice(without).beyond(core::FileChoice(receipt.without));
  for (const std::string& name : without)
    if (receipt.has_component(name)) there.push_back(name);
  return there;
}

}  // namespace

core::ComponentPlan Wanted::whole() const {
  core::ComponentPlan all = plan;
  for (const PlannedProduct& product : products)
    all.components.insert(all.components.end(), product.components.begin(), product.components.end());
  std::sort(all.components.begin(), all.components.end(),
            [](const auto& a, const auto& b) { return a.component->name < b.component->name; });
  return all;
}

std::string Wanted::shown() const {
  std::vector<std::string> texts;
  for (const PlannedProduct& product : products) texts.push_back(fmt::format("{} {}", product.name, product.version));
  return fmt::format("CUDA {}{}{}", core::to_text(release), texts.empty() ? "" : " with ", base::join(texts, ", "));
}

Result<Wanted> wanted_of(const InstallOptions& options, const App& app, const Offer& offer) {
  const core::Manifest& manifest = offer.manifest.manifest;
  Wanted wanted{offer.release, options.platform, {}, {}};
  if (options.platform.empty()) {
    CUDAENV_TRY(own, core::platform_for(store::this_machine(app.environment), offer.release, manifest));
    wanted.platform = own;
  } else {
    CUDAENV_CHECK(core::check_platform(options.platform, offer.release, manifest));
  }
  CUDAENV_TRY(choice, choice_of(options, offer.release));
  CUDAENV_TRY(plan, core::plan_components(manifest, app.facts.registry(), offer.release, wanted.platform, choice));
  wanted.choice = std::move(choice);
  wanted.plan = std::move(plan);
  return wanted;
}

bool asks_for_more_than_a_release(const InstallOptions& options) {
  return !options.profile.empty() || !options.with.empty() || !options.without.empty() || !options.platform.empty();
}

Result<InstallOptions> completed(const InstallOptions& options, const App& app, const core::Version& release) {
  InstallOptions completed = options;
  const base::Path toolkit = app.roots.own.toolkit(core::to_text(release));
  if (!options.force || !base::path_exists(toolkit / core::k_receipt_name)) return completed;
  const auto receipt = store::read_receipt(toolkit);
  if (!receipt) return completed;  // a broken one is a reason to install anew
  CUDAENV_TRY(added, with_those_of(*receipt, options.add, app.facts.registry()));
  completed.add = std::move(added);
  if (asks_for_more_than_a_release(options)) return completed;
  completed.profile = receipt->profile;
  completed.with = receipt->with;
  completed.without = receipt->without;
  completed.platform = receipt->platform;
  return completed;
}

Result<void> check_installed(const InstallOptions& options, const store::Receipt& receipt, const Wanted& wanted) {
  const std::string name = core::to_text(wanted.release);
  const std::string hint = commands::retyped(options, name) + " --force";
  if (!options.platform.empty() && receipt.platform != wanted.platform)
    return fail(ErrorKind::usage, fmt::format("CUDA {} is installed for {}", name, base::escaped(receipt.platform)),
                hint);
  if (options.profile.empty() && options.with.empty() && options.without.empty()) return {};
  std::vector<std::string> missing = core::FileChoice(receipt.without).beyond(core::FileChoice(options.without));
  for (const core::PlannedComponent& planned : wanted.plan.components)
    if (!receipt.has_component(planned.component->name)) missing.push_back(planned.component->name);
  if (!missing.empty())
    return fail(ErrorKind::usage, fmt::format("CUDA {} is installed without {}", name, base::join(missing, ", ")),
                hint);
  const std::vector<std::string> unwanted = unwanted_in(receipt, options.without);
  if (unwanted.empty()) return {};
  return fail(ErrorKind::usage, fmt::format("CUDA {} is installed with {}", name, base::join(unwanted, ", ")), hint);
}

}  // namespace cudaenv::installer
