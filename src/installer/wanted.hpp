// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "commands/app.hpp"
#include "commands/options.hpp"
#include "core/component_plan.hpp"
#include "installer/offer.hpp"
#include "installer/products.hpp"
#include "store/receipt.hpp"

namespace cudaenv::installer {

// What is to be installed, in all detail.
struct Wanted {
  core::Version release;
  std::string platform;
  core::ComponentChoice choice;
  core::ComponentPlan plan;                   // of the toolkit alone; views into the manifest
  std::vector<PlannedProduct> products = {};  // that come with it

  core::ComponentPlan whole() const;  // the toolkit's components and the products'
  std::string shown() const;          // "CUDA 12.8.1", "CUDA 12.8.1 with cudnn 9.14.0"
};

// Without the products: those take a network of their own.
[[nodiscard]] Result<Wanted> wanted_of(const commands::InstallOptions& options, const commands::App& app,
                                       const Offer& offer);

bool asks_for_more_than_a_release(const commands::InstallOptions& options);

// To install a toolkit anew is to install what it is made of, products included, unless something else is asked for.
[[nodiscard]] Result<commands::InstallOptions> completed(const commands::InstallOptions& options,
                                                         const commands::App& app, const core::Version& release);

// ErrorKind::usage unless what is installed is what was asked for: it may have more components, but no fewer, none that
// was asked away, and those groups of files that were not.
[[nodiscard]] Result<void> check_installed(const commands::InstallOptions& options, const store::Receipt& receipt,
                                           const Wanted& wanted);

}  // namespace cudaenv::installer
