// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "commands/app.hpp"
#include "commands/options.hpp"
#include "core/component_plan.hpp"
#include "core/lock.hpp"
#include "core/registry.hpp"
#include "installer/offer.hpp"
#include "installer/products.hpp"
#include "store/receipt.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::installer {

// Nothing if there is no such file. ErrorKind::config, naming file and line, if it is no lock.
[[nodiscard]] Result<std::optional<core::Lock>> read_lock(const base::Path& path);

// An error unless the project's version file that is in force here, if it is at or below the lock's directory, allows
// the release of the lock.
[[nodiscard]] Result<void> check_version_file(const base::Path& lock_path, const core::Version& release,
                                              const store::Roots& roots);

// The lock that `install --locked` obeys.
class Locked {
 public:
  // The nearest cuda.lock from the working directory upward, which must agree with what was typed and with the version
  // file, and have archives for the platform; nothing without --locked.
  [[nodiscard]] static Result<std::optional<Locked>> find(const commands::InstallOptions& typed, commands::App& app);

  // What was typed, with release, components and products as the lock has them.
  const commands::InstallOptions& options() const { return m_options; }

  // The first base that serves the very manifest of the lock. ErrorKind::integrity, with both digests, if none does.
  [[nodiscard]] Result<Offer> offer(std::vector<redist::Source>& sources, const redist::AcceptedManifest& accepted,
                                    const core::Registry& registry, base::Output& output) const;

  bool has_product(std::string_view name) const { return m_lock.find_product(name) != nullptr; }
  // Its products, each of the first base that serves the very manifest of the lock.
  [[nodiscard]] Result<std::vector<PlannedProduct>> plan_products(const std::vector<redist::Source>& bases,
                                                                  const ProductTarget& target,
                                                                  const core::Registry& registry,
                                                                  base::Output& output) const;

  // Products that the lock does not have are none of its business: a toolkit is there for other projects too.
  // ErrorKind::integrity, naming the components, if anything else is there than what the lock says.
  [[nodiscard]] Result<void> check(const core::ComponentPlan& plan) const;
  [[nodiscard]] Result<void> check(const store::Receipt& receipt, const core::Registry& registry) const;
  [[nodiscard]] Result<void> check(const store::Toolkit& toolkit, const core::Registry& registry) const;

 private:
  Locked(base::Path path, core::Lock lock, std::string platform, commands::InstallOptions options)
      : m_path(std::move(path)),
        m_lock(std::move(lock)),
        m_platform(std::move(platform)),
        m_options(std::move(options)) {}

  [[nodiscard]] Result<redist::FetchedManifest> fetch(const redist::Source& source,
                                                      const redist::AcceptedManifest& accepted,
                                                      const core::Registry& registry) const;
  std::string shown() const;

  base::Path m_path;
  core::Lock m_lock;
  std::string m_platform;
  commands::InstallOptions m_options;
};

}  // namespace cudaenv::installer
