// SPDX-License-Identifier: Apache-2.0
#include "installer/locked.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "core/platform.hpp"
#include "core/registry_lookup.hpp"
#include "core/version_text.hpp"
#include "installer/locked_products.hpp"
#include "installer/retyped.hpp"
#include "shell/quote.hpp"
#include "store/machine.hpp"
#include "store/selected.hpp"

// A lock only ever narrows what an install may do: which bases are asked, and whether a manifest that the registry
// knows otherwise may be used, stays with the user, since the file comes with a project and may be anybody's.

namespace cudaenv::installer {
namespace {

std::string shown_path(const base::Path& path) { return base::escaped(path.native()); }

Result<std::optional<std::pair<base::Path, core::Lock>>> nearest_lock(base::Path directory) {
  while (true) {
    CUDAENV_TRY(lock, read_lock(directory / core::k_lock_name));
    if (lock) return std::pair{directory / core::k_lock_name, std::move(*lock)};
    if (directory == directory.parent_path()) return std::nullopt;
    directory = directory.parent_path();
  }
}

tl::unexpected<Error> contradiction(std::string_view lock, const std::string& has, std::string_view typed,
                                    std::string hint) {
  return fail(ErrorKind::usage, fmt::format("{} has {}, not {}", lock, has, base::escaped(typed)), std::move(hint),
              {"`cudaenv lock` changes what is locked; --locked alone installs it as it is"});
}

// An error if one of the names that were typed is not locked.
Result<void> check_names(std::string_view lock, std::string_view option, const std::vector<std::string>& typed,
                         const std::vector<std::string>& locked) {
  for (const std::string& name : typed)
    if (std::find(locked.begin(), locked.end(), name) == locked.end())
      return contradiction(lock, fmt::format("no {} of that name", option), name,
                           fmt::format("cudaenv lock --{} {}", option, base::escaped(name)));
  return {};
}

// An error if one of the products that were typed is not locked, or in another version.
Result<void> check_added(const std::vector<std::string>& typed, std::string_view path, const core::Lock& lock,
                         const core::Registry& registry) {
  CUDAENV_TRY(wanted, wanted_products(typed, registry, lock.release));
  for (const WantedProduct& product : wanted) {
    const std::string text = core::to_text(product.spec);
    const std::string hint = "cudaenv lock --add " + text;
    const core::LockedProduct* locked = lock.find_product(product.row->name);
    if (!locked) return contradiction(path, "no product of that name", text, hint);
    const auto version = core::parse_dotted_version(locked->version).value_or(core::DottedVersion{});
    const auto& archives = locked->platforms.front().archives;
    const bool is_meant = std::any_of(archives.begin(), archives.end(), [&](const core::LockedArchive& archive) {
      return product.spec.matches(version, core::parse_dotted_version(archive.version).value_or(core::DottedVersion{}));
    });
    if (!is_meant) return contradiction(path, fmt::format("{} {}", locked->name, locked->version), text, hint);
  }
  return {};
}

Result<void> check_typed(const commands::InstallOptions& typed, std::string_view path, const core::Lock& lock) {
  if (typed.list) return fail(ErrorKind::usage, "--list and --locked do not go together", "cudaenv install --list");
  if (typed.spec) {
    CUDAENV_TRY(spec, commands::parse_typed_spec(*typed.spec));
    if (!spec.matches(lock.release))
      return contradiction(path, fmt::format("CUDA {}", core::to_text(lock.release)), *typed.spec,
                           fmt::format("cudaenv lock {}", base::escaped(*typed.spec)));
  }
  const std::string_view profile = core::to_text(lock.choice.profile);
  if (!typed.profile.empty() && typed.profile != profile)
    return contradiction(path, fmt::format("the profile {}", profile), typed.profile,
                         fmt::format("cudaenv lock --profile {}", base::escaped(typed.profile)));
  CUDAENV_CHECK(check_names(path, "with", typed.with, lock.choice.with));
  return check_names(path, "without", typed.without, lock.choice.without);
}

// Whether `below` is the directory or lies in it; both come from a walk upward from one place.
bool is_in(const base::Path& directory, const base::Path& below) {
  return below.native().size() >= directory.native().size();
}

// What filters files rather than components leaves no trace in the archives.
std::vector<std::string> filters_of(const std::vector<std::string>& without, const core::Registry& registry) {
  std::vector<std::string> filters;
  for (const std::string& name : without)
    if (!core::find_component(registry, name)) filters.push_back(name);
  std::sort(filters.begin(), filters.end());
  return filters;
}

// Of a product; of the toolkit itself if that is empty.
std::vector<core::LockedArchive> archives_of(const store::Receipt& receipt, std::string_view product) {
  std::vector<core::LockedArchive> archives;
  for (const store::ReceiptComponent& component : receipt.components)
    if (component.product == product)
      archives.push_back(
          {component.name, component.version, {component.archive, component.archive_sha256, component.archive_size}});
  std::sort(archives.begin(), archives.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return archives;
}

// Why nothing of the lock can be installed for the platform; nothing if it can.
Result<void> check_platform(const base::Path& path, const core::Lock& lock, const std::string& platform) {
  std::string hint = "cudaenv lock";
  for (const core::LockedPlatform& locked : lock.platforms)
    if (locked.name != platform) hint += " --platform " + locked.name;
  hint += " --platform " + base::escaped(platform);
  if (!lock.find(platform))
    return fail(ErrorKind::not_found, fmt::format("{} has nothing for {}", shown_path(path), base::escaped(platform)),
                hint, {"it is for " + lock.platform_names()});
  for (const core::LockedProduct& product : lock.products)
    if (!product.find(platform))
      return fail(ErrorKind::not_found,
                  fmt::format("{} has no {} for {}", shown_path(path), product.name, base::escaped(platform)), hint);
  return {};
}

bool may_be_right_elsewhere(const Error& error) {
  return error.kind != ErrorKind::interrupted && error.kind != ErrorKind::internal;
}

}  // namespace

Result<std::optional<core::Lock>> read_lock(const base::Path& path) {
  CUDAENV_TRY(content, base::read_file(path, core::k_largest_lock));
  if (!content) return std::nullopt;
  const auto unusable = [&](const Error& error) {
    return fail(ErrorKind::config, fmt::format("{}: {}", shown_path(path), base::escaped(error.message)),
                fmt::format("rm {}", base::escaped(shell::word(path.native()))),
                {"`cudaenv lock` makes it anew once it is removed"});
  };
  const auto document = base::parse_toml(*content);
  if (!document) return unusable(document.error());
  auto lock = core::parse_lock(*document);
  if (!lock) return unusable(lock.error());
  return std::move(*lock);
}

Result<void> check_version_file(const base::Path& lock_path, const core::Version& release, const store::Roots& roots) {
  const store::Selected chosen = store::current_selection(roots, store::Look::project_files);
  if (chosen.origin == core::OriginKind::none) return {};
  if (!is_in(lock_path.parent_path(), base::Path(chosen.origin_path).parent_path())) return {};
  const auto spec = core::parse_spec(chosen.word);
  if (!spec) return chosen.problem ? fail(*chosen.problem) : Result<void>();
  if (spec->matches(release)) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} is of CUDA {}, but {} is asked for", shown_path(lock_path), core::to_text(release),
                          base::escaped(chosen.word)),
              "cudaenv lock", {chosen.origin_text(), "`cudaenv lock` locks what is asked for"});
}

Result<std::optional<Locked>> Locked::find(const commands::InstallOptions& typed, commands::App& app) {
  if (!typed.locked) return std::nullopt;
  CUDAENV_TRY(here, base::working_directory(app.environment));
  CUDAENV_TRY(found, nearest_lock(here));
  if (!found)
    return fail(ErrorKind::not_found,
                fmt::format("there is no {} in {} or above it", core::k_lock_name, shown_path(here)), "cudaenv lock");
  auto& [path, lock] = *found;
  CUDAENV_CHECK(check_typed(typed, shown_path(path), lock));
  CUDAENV_CHECK(check_version_file(path, lock.release, app.roots));
  CUDAENV_CHECK(check_products(path, lock, app.facts.registry()));
  CUDAENV_CHECK(check_added(typed.add, shown_path(path), lock, app.facts.registry()));

  std::string platform = typed.platform;
  if (platform.empty()) platform = core::platform_name(store::this_machine(app.environment), lock.release);
  CUDAENV_CHECK(check_platform(path, lock, platform));

  commands::InstallOptions options = typed;
  options.spec = core::to_text(lock.release);
  options.profile = core::to_text(lock.choice.profile);
  options.with = lock.choice.with;
  options.without = lock.choice.without;
  options.add = product_specs(lock);
  return Locked(std::move(path), std::move(lock), std::move(platform), std::move(options));
}

std::string Locked::shown() const { return shown_path(m_path); }

Result<redist::FetchedManifest> Locked::fetch(const redist::Source& source, const redist::AcceptedManifest& accepted,
                                              const core::Registry& registry) const {
  const core::ReleaseRow* row = core::find_release(registry, m_lock.release);
  return fetch_locked({"CUDA " + core::to_text(m_lock.release), m_lock.manifest_sha256,
                       std::string(row ? row->manifest_sha256 : std::string_view()), shown()},
                      source, accepted, [&](const redist::AcceptedManifest& accepting) {
                        return redist::fetch_manifest(source, m_lock.release, registry, accepting);
                      });
}

Result<Offer> Locked::offer(std::vector<redist::Source>& sources, const redist::AcceptedManifest& accepted,
                            const core::Registry& registry, base::Output& output) const {
  return first_answer(
      sources, output,
      [&](const redist::Source& source) -> Result<Offer> {
        CUDAENV_TRY(manifest, fetch(source, accepted, registry));
        return Offer{{}, m_lock.release, std::move(manifest)};
      },
      may_be_right_elsewhere);
}

Result<std::vector<PlannedProduct>> Locked::plan_products(const std::vector<redist::Source>& bases,
                                                          const ProductTarget& target, const core::Registry& registry,
                                                          base::Output& output) const {
  std::vector<PlannedProduct> products;
  const ProductTarget here{target.release, m_platform, target.accepted, target.command};
  for (const core::LockedProduct& locked : m_lock.products) {
    CUDAENV_TRY(planned, plan_locked(locked, shown(), bases, here, registry, output));
    products.push_back(std::move(planned));
  }
  return products;
}

Result<void> Locked::check(const core::ComponentPlan& plan) const {
  std::vector<std::string> lines =
      core::departures(*m_lock.find(m_platform), core::locked_platform(m_platform, plan).archives);
  if (lines.empty()) return {};
  const std::string profile(core::to_text(m_lock.choice.profile));
  lines.push_back(fmt::format("that is what CUDA {} has in the profile {}", core::to_text(m_lock.release), profile));
  return fail(ErrorKind::integrity, fmt::format("{} is not what would be installed for {}", shown(), m_platform),
              "cudaenv lock --check", std::move(lines));
}

Result<void> Locked::check(const store::Receipt& receipt, const core::Registry& registry) const {
  std::vector<std::string> lines;
  if (receipt.platform != m_platform) {
    lines.push_back(fmt::format("it is for {}, not for {}", base::escaped(receipt.platform), m_platform));
  } else {
    lines = core::departures(*m_lock.find(m_platform), archives_of(receipt, ""));
    for (const core::LockedProduct& product : m_lock.products)
      for (std::string& line : core::departures(*product.find(m_platform), archives_of(receipt, product.name)))
        lines.push_back(std::move(line));
  }
  if (filters_of(receipt.without, registry) != filters_of(m_lock.choice.without, registry))
    lines.emplace_back("other files are left out");
  if (lines.empty()) return {};
  const std::string name = core::to_text(m_lock.release);
  return fail(ErrorKind::integrity, fmt::format("CUDA {} is installed, but not as {} has it", name, shown()),
              commands::retyped(m_options, name) + " --force", std::move(lines));
}

Result<void> Locked::check(const store::Toolkit& toolkit, const core::Registry& registry) const {
  if (toolkit.adopted_from)
    return fail(ErrorKind::integrity,
                fmt::format("{} is adopted from {}, so nobody knows whether it is what {} has", toolkit.name,
                            shown_path(*toolkit.adopted_from), shown()),
                fmt::format("cudaenv uninstall {}", toolkit.name));
  CUDAENV_TRY(receipt, store::read_receipt(toolkit.directory));
  return check(receipt, registry);
}

}  // namespace cudaenv::installer
