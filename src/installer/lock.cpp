// SPDX-License-Identifier: Apache-2.0
// `lock`: writes cuda.lock, or says in what it would differ.
#include <algorithm>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/lock.hpp"
#include "core/platform.hpp"
#include "core/version_text.hpp"
#include "installer/add_products.hpp"
#include "installer/chosen.hpp"
#include "installer/locked.hpp"
#include "installer/locked_products.hpp"
#include "installer/retold.hpp"
#include "installer/sources.hpp"
#include "shell/quote.hpp"
#include "store/selected.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

constexpr std::size_t k_most_differences = 20;  // lines

// What is locked, and where.
struct Target {
  base::Path path;
  std::optional<core::Lock> before;
};

// A cloned project may bring a link to anywhere: one that leads nowhere would make a file there.
Result<void> check_link(const base::Path& path) {
  if (base::entry_kind(path) != base::EntryKind::link || base::path_exists(path)) return {};
  CUDAENV_TRY(leads_to, base::link_target(path));
  return fail(ErrorKind::config, fmt::format("{} is a link to {}, which is not there", base::escaped(path.native()),
                                             base::escaped(leads_to.native())));
}

// Beside the version file of the project that is in force, else in the working directory.
Result<base::Path> path_of(const LockOptions& options, const store::Selected& chosen, const App& app) {
  CUDAENV_TRY(here, base::working_directory(app.environment));
  if (!options.output.empty()) return (here / options.output).lexically_normal();
  if (chosen.origin == core::OriginKind::project_file)
    return base::Path(chosen.origin_path).parent_path() / core::k_lock_name;
  return here / core::k_lock_name;
}

// What to lock, as text: the argument, or what the selection asks for. A lock that satisfies it stays at its release,
// and so does a machine that has one installed: only who names a release moves to it. What is selected for everywhere
// says nothing of a project that has a lock.
Result<std::string> wanted_text(const LockOptions& options, const store::Selected& chosen, const Target& target) {
  if (options.spec) return *options.spec;
  const bool is_meant_for_here =
      chosen.origin == core::OriginKind::project_file || chosen.origin == core::OriginKind::variable;
  if (target.before && !is_meant_for_here) return core::to_text(target.before->release);
  if (chosen.problem && chosen.status != core::SelectionStatus::not_installed) return fail(*chosen.problem);
  if (chosen.status == core::SelectionStatus::system)
    return fail(ErrorKind::usage, fmt::format("no version was given, and {}", chosen.origin_text()),
                "cudaenv lock 12.8");
  const auto spec = core::parse_spec(chosen.word);
  if (target.before && spec && spec->matches(target.before->release)) return core::to_text(target.before->release);
  if (!chosen.is_toolkit()) return chosen.word;
  if (!core::parse_version(chosen.name))
    return fail(ErrorKind::usage,
                fmt::format("{} is an adopted toolkit: there are no archives of it to lock", chosen.name),
                "cudaenv lock 12.8", {chosen.origin_text()});
  return chosen.name;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// What was typed; for the rest, what the lock has.
Result<core::ComponentChoice> choice_of(const LockOptions& options, const Target& target) {
  core::ComponentChoice choice;
  if (target.before) choice = target.before->choice;
  if (!options.profile.empty()) {
    CUDAENV_TRY(profile, installer::typed_profile(options.profile, "cudaenv lock --profile minimal"));
    choice.profile = profile;
  }
  if (!options.with.empty()) choice.with = sorted(options.with);
  if (!options.without.empty()) choice.without = sorted(options.without);
  return choice;
}

std::vector<std::string> platforms_of(const LockOptions& options, const Target& target) {
  if (!options.platforms.empty() || !target.before) return options.platforms;
  std::vector<std::string> platforms;
  for (const core::LockedPlatform& platform : target.before->platforms) platforms.push_back(platform.name);
  return platforms;
}

// What was typed, or what the lock has; of a lock that is new, what was added to the installed toolkit. One that is
// there follows no toolkit, so that it says the same on every machine; what it lacks of this one's is told.
Result<std::vector<std::string>> products_of(const LockOptions& options, const Target& target,
                                             const core::Version& release, App& app) {
  if (!options.add.empty()) return options.add;
  std::vector<std::string> locked;
  if (target.before) locked = installer::product_specs(*target.before);
  const std::string name = core::to_text(release);
  CUDAENV_TRY(toolkit, store::find_toolkit(app.roots, name));
  if (!toolkit || toolkit->adopted_from) return locked;
  const auto receipt = store::read_receipt(toolkit->directory);
  if (!receipt) {
    app.output.warning(fmt::format("{}; so nobody knows what was added to it", receipt.error().message));
    return locked;
  }
  CUDAENV_TRY(all, installer::with_those_of(*receipt, locked, app.facts.registry()));
  if (!target.before || all.size() == locked.size()) return all;
  std::string command = "cudaenv lock";
  for (const std::string& product : all) command += " --add " + base::escaped(shell::word(product));
  app.output.note(fmt::format("not all that was added to CUDA {} is locked: `{}` locks it", name, command));
  return locked;
}

Result<core::Lock> make_lock(const LockOptions& options, const Target& target, const core::Spec& spec, App& app) {
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  CUDAENV_TRY(choice, choice_of(options, target));
  CUDAENV_TRY(sources, installer::open_sources(options.mirrors, settings, app));
  const std::vector<redist::Source> bases = redist::opened_again(sources);  // of products, whichever has the toolkit
  const redist::AcceptedManifest accepted = installer::accepted_manifest(options.accept_manifest, app);
  CUDAENV_TRY(offer, installer::chosen_offer(sources, spec, accepted, app));
  CUDAENV_TRY(plans, installer::plan_platforms(offer, choice, platforms_of(options, target), app));
  core::Lock lock{offer.release, std::move(choice), offer.manifest.sha256, {}, {}};
  std::vector<std::string> platforms;
  for (const installer::PlatformPlan& planned : plans) {
    lock.platforms.push_back(core::locked_platform(planned.platform, planned.plan));
    platforms.push_back(planned.platform);
  }
  CUDAENV_TRY(typed, products_of(options, target, offer.release, app));
  const installer::ProductTarget fit{offer.release, "", accepted, "cudaenv install " + core::to_text(offer.release)};
  CUDAENV_TRY(products, installer::products_to_lock(typed, platforms, bases, fit, app.facts.registry(), app.output));
  lock.products = std::move(products);
  installer::tell_left_out(app.output, plans.front().plan, lock.choice.profile, "locked");
  return lock;
}

std::string summary(const core::Lock& lock) {
  std::string text =
      fmt::format("CUDA {}, profile {}", core::to_text(lock.release), core::to_text(lock.choice.profile));
  for (const core::LockedProduct& product : lock.products)
    text += fmt::format(", {} {}", product.name, product.version);
  text += ":";
  for (const core::LockedPlatform& platform : lock.platforms) {
    std::vector<core::LockedArchive> archives = platform.archives;
    for (const core::LockedProduct& product : lock.products)
      if (const core::LockedPlatform* more = product.find(platform.name))
        archives.insert(archives.end(), more->archives.begin(), more->archives.end());
    std::uint64_t bytes = 0;
    for (const core::LockedArchive& locked : archives) bytes += locked.archive.size;
    text += fmt::format("{} {} archives for {} ({})", &platform == &lock.platforms.front() ? "" : ",", archives.size(),
                        platform.name, base::human_size(bytes));
  }
  return text;
}

// The difference to what is there, one line each; nothing if that is up to date.
Result<std::vector<std::string>> difference(const Target& target, const core::Lock& lock) {
  if (!target.before) return std::vector<std::string>{"there is no " + base::escaped(target.path.native())};
  std::vector<std::string> lines = core::differences(*target.before, lock);
  CUDAENV_TRY(text, base::read_file(target.path, core::k_largest_lock));
  if (lines.empty() && text != core::to_text(lock)) lines.emplace_back("its text was edited; what it says is the same");
  return lines;
}

Result<ExitCode> check(const Target& target, const core::Lock& lock, App& app) {
  CUDAENV_TRY(lines, difference(target, lock));
  const std::string shown = base::escaped(target.path.native());
  if (lines.empty()) {
    app.output.note(fmt::format("{} is up to date", shown));
    return ExitCode::done;
  }
  for (std::size_t i = 0; i < lines.size() && i < k_most_differences; ++i) app.output.data(lines[i] + "\n");
  if (lines.size() > k_most_differences)
    app.output.data(fmt::format("and {} more\n", lines.size() - k_most_differences));
  app.output.note(fmt::format("{} is not up to date: the same without --check writes it", shown));
  return ExitCode::other;
}

Result<ExitCode> lock_or_check(const LockOptions& options, App& app) {
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  CUDAENV_TRY(path, path_of(options, chosen, app));
  Target target{std::move(path), std::nullopt};
  CUDAENV_CHECK(check_link(target.path));
  CUDAENV_TRY(before, installer::read_lock(target.path));
  target.before = std::move(before);
  if (target.before) CUDAENV_CHECK(installer::check_products(target.path, *target.before, app.facts.registry()));
  CUDAENV_TRY(text, wanted_text(options, chosen, target));
  CUDAENV_TRY(spec, parse_typed_spec(text));
  CUDAENV_TRY(lock, make_lock(options, target, spec, app));
  if (options.output.empty()) CUDAENV_CHECK(installer::check_version_file(target.path, lock.release, app.roots));
  if (options.check) return check(target, lock, app);

  CUDAENV_TRY(lines, difference(target, lock));
  const std::string shown = base::escaped(target.path.native());
  if (lines.empty()) {
    app.output.note(fmt::format("{} is up to date: {}", shown, summary(lock)));
    return ExitCode::done;
  }
  CUDAENV_CHECK(base::write_file(target.path, core::to_text(lock)));
  app.output.note(fmt::format("{} is written: {}", shown, summary(lock)));
  return ExitCode::done;
}

// What is to be typed of a product here, from what would be typed for another command; nothing if it is of none.
std::optional<std::string> hint_of_product(const std::string& hint, const std::string& spec) {
  constexpr std::string_view k_add = "cudaenv add ";
  constexpr std::string_view k_install = "cudaenv install ";
  if (hint.starts_with(k_add)) {
    const std::string product = hint.substr(k_add.size(), hint.find(' ', k_add.size()) - k_add.size());
    return fmt::format("cudaenv lock{} --add {}", spec, product);
  }
  if (!hint.starts_with(k_install)) return std::nullopt;
  if (hint.find(" --add ") != std::string::npos) return fmt::format("cudaenv lock {}", hint.substr(k_install.size()));
  const std::size_t with = hint.find(" --with ");  // a component of the toolkit that was taken for a product
  const std::size_t end = hint.rfind(" --force");
  if (with == std::string::npos || end == std::string::npos) return std::nullopt;
  return fmt::format("cudaenv lock{}{}", spec, hint.substr(with, end - with));
}

}  // namespace

Result<ExitCode> run(const LockOptions& options, App& app) {
  base::catch_interrupts();
  auto done = lock_or_check(options, app);
  if (done) return done;
  const std::string spec = options.spec ? " " + base::escaped(shell::word(*options.spec)) : "";
  if (auto hint = hint_of_product(done.error().hint, spec)) {
    done.error().hint = std::move(*hint);
    return done;
  }
  return fail(installer::retold(std::move(done).error(), "cudaenv lock", spec, options));
}

}  // namespace cudaenv::commands
