// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "commands/judged.hpp"
#include "commands/run.hpp"
#include "core/release_choice.hpp"
#include "core/version_text.hpp"
#include "installer/add_products.hpp"
#include "installer/locked.hpp"
#include "installer/offer.hpp"
#include "installer/plan_text.hpp"
#include "installer/progress.hpp"
#include "installer/replaced.hpp"
#include "installer/retyped.hpp"
#include "installer/sources.hpp"
#include "installer/wanted.hpp"
#include "redist/installer.hpp"
#include "redist/source.hpp"
#include "store/receipt.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using installer::Wanted;

// What to install: the argument, or what the selection asks for; nothing if that is an adopted toolkit. A selection
// that is satisfied asks for what satisfies it: `install` in a project does not update.
Result<std::optional<core::Spec>> wanted_spec(const InstallOptions& options, App& app, std::string& text) {
  if (options.spec) {
    text = *options.spec;
    CUDAENV_TRY(spec, parse_typed_spec(text));
    return spec;
  }
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  if (chosen.problem && chosen.status != core::SelectionStatus::not_installed) return fail(std::move(*chosen.problem));
  if (chosen.status == core::SelectionStatus::system)
    return fail(ErrorKind::usage, fmt::format("no version was given, and {}", chosen.origin_text()),
                "cudaenv install 12.8");
  if (chosen.is_toolkit() && !core::parse_version(chosen.name)) {
    app.output.note(fmt::format("{} is there already ({})", chosen.name, chosen.origin_text()));
    return std::nullopt;
  }
  text = chosen.is_toolkit() ? chosen.name : chosen.word;
  CUDAENV_TRY(spec, parse_typed_spec(text));
  return spec;
}

// Releases of a list that the spec stands for, all without one.
Result<ExitCode> list(const InstallOptions& options, App& app, std::vector<redist::Source> sources) {
  const std::string text = options.spec.value_or("latest");  // the spec points into it
  CUDAENV_TRY(spec, parse_typed_spec(text));
  CUDAENV_TRY(offer, installer::first_offer(sources, std::nullopt, {}, app.facts.registry(), nullptr, app.output));
  std::size_t count = 0;
  for (const core::Version& release : offer.published.releases) {
    if (!spec.matches(release)) continue;
    app.output.data(core::to_text(release) + "\n");
    ++count;
  }
  if (count == 0) CUDAENV_CHECK(core::choose_release(spec, offer.published.releases, app.facts.registry()));
  if (offer.published.is_from_registry)
    app.output.note(
        fmt::format("{} lists nothing; these are the releases known to cudaenv", sources.front().location.shown()));
  return ExitCode::done;
}

void tell_installed(App& app, const std::string& name, bool is_shared) {
  app.output.note(fmt::format("CUDA {} is installed already{}", name, is_shared ? " in the shared root" : ""));
}

// Whether nothing is to be done for a release that is there. An error if it is there in a way that stands against it.
// Without `wanted`, what needs a manifest to be answered is not done.
Result<bool> is_done_already(const InstallOptions& options, App& app, const core::Version& release,
                             const Wanted* wanted, const std::optional<installer::Locked>& locked) {
  const std::string name = core::to_text(release);
  CUDAENV_TRY(toolkit, store::find_toolkit(app.roots, name));
  if (!toolkit || (toolkit->is_shared && options.force)) return false;
  if (locked && !options.force) {
    const auto agreed = locked->check(*toolkit, app.facts.registry());
    if (!agreed && toolkit->is_shared) return false;
    CUDAENV_CHECK(agreed);
  }
  if (toolkit->adopted_from) {
    const std::string from = base::escaped(toolkit->adopted_from->native());
    if (options.force)
      return fail(ErrorKind::usage, fmt::format("{} is adopted from {}", name, from),
                  fmt::format("cudaenv uninstall {}", name));
    app.output.note(fmt::format("CUDA {} is there already: adopted from {}", name, from));
    CUDAENV_CHECK(refresh_shims(app).map_error(stale_shims));
    return true;
  }
  if (options.force) return false;
  if (!locked && installer::asks_for_more_than_a_release(options)) {
    if (!wanted) return false;
    CUDAENV_TRY(receipt, store::read_receipt(toolkit->directory));
    CUDAENV_CHECK(installer::check_installed(options, receipt, *wanted));
  }
  tell_installed(app, name, toolkit->is_shared);
  // An install that was killed at its end may not have got to them.
  if (!toolkit->is_shared) CUDAENV_CHECK(refresh_shims(app).map_error(stale_shims));
  return true;
}

// Receipts of the toolkits that files can be shared with.
Result<std::vector<store::Receipt>> receipts_in(const App& app) {
  CUDAENV_TRY(toolkits, store::installed_toolkits(app.roots));
  std::vector<store::Receipt> receipts;
  for (const store::Toolkit& toolkit : toolkits) {
    if (toolkit.is_shared || toolkit.adopted_from) continue;
    if (auto receipt = store::read_receipt(toolkit.directory))
      receipts.push_back(std::move(*receipt));  // else: no help
  }
  return receipts;
}

Result<void> print_plan(App& app, const Wanted& wanted, const std::string& base) {
  CUDAENV_TRY(receipts, receipts_in(app));
  const store::Root& root = app.roots.own;
  const auto is_kept = [&](const std::string& digest) { return base::path_exists(root.cached_archives() / digest); };
  CUDAENV_TRY(free, base::free_space(root.versions()));
  app.output.data(fmt::format("CUDA {} for {} from {}\n", core::to_text(wanted.release), wanted.platform, base));
  for (const installer::PlannedProduct& product : wanted.products)
    app.output.data(
        fmt::format("{} {} from {}\n", product.name, product.version, product.sources.front().location.shown()));
  app.output.data(installer::plan_text(installer::summarize(wanted.whole(), wanted.choice.without, receipts, is_kept),
                                       root.versions(), free));
  return {};
}

// What, how much, how long, how much of it was here.
std::string installed_text(const Wanted& wanted, const redist::InstallOutcome& outcome, double seconds) {
  std::string text = fmt::format("installed {}: {} in {} files, {:.1f} s", wanted.shown(),
                                 base::human_size(outcome.installed_size), outcome.file_count, seconds);
  text += fmt::format("; {} fetched", base::human_size(outcome.fetched));
  if (outcome.shared_size > 0) text += fmt::format(", {} shared", base::human_size(outcome.shared_size));
  return text;
}

void tell_plan(App& app, const Wanted& wanted, const core::ComponentPlan& plan, const std::string& base) {
  app.output.note(fmt::format("installing {} for {}: {} components, {} in archives, from {}", wanted.shown(),
                              wanted.platform, plan.components.size(), base::human_size(plan.download_size()), base));
  std::vector<std::string> licences = installer::licences_of(wanted.products);
  licences.insert(licences.begin(), std::string(installer::k_licence));
  app.output.note(fmt::format("NVIDIA's licence applies to what is fetched: {}", base::join(licences, ", ")));
}

// The toolkit with its products, in one plan and one commit: nobody who is stopped has the one without the others.
Result<redist::InstallOutcome> carry_out(const InstallOptions& options, App& app, const store::Settings& settings,
                                         Wanted& wanted, std::vector<redist::Source> sources,
                                         const std::string& manifest_sha256) {
  const std::string name = core::to_text(wanted.release);
  const std::string base = sources.front().location.shown();
  const core::ComponentPlan plan = wanted.whole();
  tell_plan(app, wanted, plan, base);
  const auto start = std::chrono::steady_clock::now();
  redist::InstallRequest request;
  request.release = wanted.release;
  request.platform = wanted.platform;
  request.choice = wanted.choice;
  request.origins.emplace("", redist::Origin{std::move(sources), name, manifest_sha256, base});
  for (installer::PlannedProduct& product : wanted.products) {
    const std::string shown = product.sources.front().location.shown();
    request.origins.emplace(
        product.name, redist::Origin{std::move(product.sources), product.version, product.manifest_sha256, shown});
  }
  request.replace = options.force;
  request.jobs = options.jobs.value_or(static_cast<unsigned>(settings.number("install.jobs")));
  request.keeps_archives = settings.is_on("install.keep_archives");
  request.command = retyped(options, name);
  installer::Progress progress(app.output, plan);
  auto outcome = redist::install(plan, request, app.roots.own, progress);
  if (!outcome && outcome.error().kind == ErrorKind::interrupted)
    return fail(std::move(outcome).error().during("nothing was installed"));
  if (outcome && !outcome->found) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    app.output.note(installed_text(wanted, *outcome, taken.count()));
  }
  return outcome;
}

// Where products come from and what they are to fit.
struct ProductPlace {
  std::vector<redist::Source> bases;
  installer::ProductTarget target;
};

// Puts what was typed of products, and is not there, into a toolkit that is installed. A lock has been compared with
// it.
Result<void> add_to_installed(App& app, const InstallOptions& options, ProductPlace& place) {
  if (options.locked || options.add.empty()) return {};
  const std::string name = core::to_text(place.target.release);
  const std::string command = retyped(options, name);
  CUDAENV_TRY(products, installer::wanted_products(options.add, app.facts.registry(), place.target.release));
  CUDAENV_TRY(into, installer::changeable_toolkit(app, name, command));
  place.target.platform = into.receipt.platform;
  CUDAENV_TRY(missing, installer::missing_products(app, products, &into.receipt, place.bases, place.target));
  return missing.empty() ? Result<void>() : installer::add_products(app, into, std::move(missing), command);
}

// The products that come with a toolkit: those of the lock as they are locked, the others as they were typed.
Result<std::vector<installer::PlannedProduct>> plan_products(App& app, const InstallOptions& options,
                                                             const std::optional<installer::Locked>& locked,
                                                             const ProductPlace& place) {
  const core::Registry& registry = app.facts.registry();
  CUDAENV_TRY(products, installer::wanted_products(options.add, registry, place.target.release));
  std::vector<installer::PlannedProduct> planned;
  if (locked) {
    CUDAENV_TRY(those, locked->plan_products(place.bases, place.target, registry, app.output));
    planned = std::move(those);
    std::erase_if(products, [&](const auto& product) { return locked->has_product(product.row->name); });
  }
  CUDAENV_TRY(others, installer::missing_products(app, products, nullptr, place.bases, place.target));
  std::move(others.begin(), others.end(), std::back_inserter(planned));
  return planned;
}

Result<void> finish(App& app, const redist::InstallOutcome& outcome, const InstallOptions& options,
                    const Wanted& wanted, const std::optional<installer::Locked>& locked, ProductPlace& place) {
  const std::string name = core::to_text(wanted.release);
  if (outcome.found) {
    CUDAENV_CHECK(locked ? locked->check(*outcome.found, app.facts.registry())
                         : installer::check_installed(options, *outcome.found, wanted));
    tell_installed(app, name, false);
  }
  if (auto refreshed = refresh_shims(app); !refreshed)
    return fail(stale_shims(std::move(refreshed).error()).during(fmt::format("CUDA {} itself is installed", name)));
  return outcome.found ? add_to_installed(app, options, place) : Result<void>();
}

Result<installer::Offer> offer_of(const InstallOptions& options, App& app, std::vector<redist::Source>& sources,
                                  const core::Spec& spec, const std::optional<installer::Locked>& locked) {
  const redist::AcceptedManifest accepted = installer::accepted_manifest(options.accept_manifest, app);
  if (locked) return locked->offer(sources, accepted, app.facts.registry(), app.output);
  const core::MachineFacts* machine = nullptr;
  if (spec.kind == core::SpecKind::automatic && options.platform.empty()) {
    CUDAENV_TRY(facts, app.machine.facts(Asking::anew));
    machine = facts;
  }
  return installer::first_offer(sources, spec, accepted, app.facts.registry(), machine, app.output);
}

Result<ExitCode> install(const InstallOptions& typed_options, App& app, const store::Settings& settings,
                         std::vector<redist::Source> sources, const core::Spec& spec, std::string_view typed,
                         const std::optional<installer::Locked>& locked) {
  ProductPlace place{redist::opened_again(sources), {}};  // whichever of the bases has the toolkit
  CUDAENV_TRY(offer, offer_of(typed_options, app, sources, spec, locked));
  if (!offer.manifest.warning.empty()) app.output.warning(offer.manifest.warning);
  CUDAENV_TRY(options, installer::completed(typed_options, app, offer.release));
  CUDAENV_TRY(wanted, installer::wanted_of(options, app, offer));
  if (locked) CUDAENV_CHECK(locked->check(wanted.plan));
  const std::string name = core::to_text(wanted.release);
  place.target = {wanted.release, wanted.platform, installer::accepted_manifest(options.accept_manifest, app),
                  "cudaenv install " + name};
  CUDAENV_TRY(done, options.dry_run ? false : is_done_already(options, app, wanted.release, &wanted, locked));
  if (done) {
    CUDAENV_CHECK(add_to_installed(app, options, place));
    return ExitCode::done;
  }
  CUDAENV_TRY(products, plan_products(app, options, locked, place));
  wanted.products = std::move(products);
  if (options.dry_run) CUDAENV_CHECK(print_plan(app, wanted, sources.front().location.shown()));
  installer::tell_left_out(app.output, wanted.plan, wanted.choice.profile, "installed");
  std::string forcing;
  if (options.platform.empty()) {
    CUDAENV_TRY(needed, foretell(app, toolkit_facts(wanted.release)));
    forcing = needed;
  }
  if (options.dry_run) return ExitCode::done;

  CUDAENV_TRY(outcome, carry_out(options, app, settings, wanted, std::move(sources), offer.manifest.sha256));
  CUDAENV_CHECK(finish(app, outcome, options, wanted, locked, place));
  app.output.note(fmt::format("to use it here: cudaenv local {}{}",
                              options.spec && typed != "latest" && typed != "auto" ? typed : name, forcing));
  if (outcome.replaced) installer::remove_replaced(std::move(*outcome.replaced), name, app.output);
  return ExitCode::done;
}

Result<ExitCode> install_or_list(const InstallOptions& typed, App& app, std::string& text) {
  CUDAENV_TRY(locked, installer::Locked::find(typed, app));
  const InstallOptions& options = locked ? locked->options() : typed;
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  if (options.list) {
    CUDAENV_TRY(sources, installer::open_sources(options.mirrors, settings, app));
    return list(options, app, std::move(sources));
  }
  CUDAENV_TRY(wanted, wanted_spec(options, app, text));
  if (!wanted) return ExitCode::done;
  if (wanted->given == 3 && !options.dry_run && (options.add.empty() || locked)) {
    CUDAENV_TRY(done, is_done_already(options, app, wanted->version, nullptr, locked));  // no need to ask the network
    if (done) return ExitCode::done;
  }
  CUDAENV_TRY(sources, installer::open_sources(options.mirrors, settings, app));
  return install(options, app, settings, std::move(sources), *wanted, text, locked);
}

}  // namespace

Result<ExitCode> run(const InstallOptions& options, App& app) {
  base::catch_interrupts();
  std::string text = options.list ? fmt::format("--list {}", options.spec.value_or("latest")) : "";
  auto done = install_or_list(options, app, text);
  if (done) return done;
  Error error = std::move(done).error();
  // The directory that was full is gone with all that was unpacked.
  if (error.kind == ErrorKind::filesystem && error.hint.starts_with("df -h"))
    error.hint = fmt::format("df -h {}", base::escaped(app.roots.own.path.native()));
  if (error.kind == ErrorKind::network && error.hint.empty()) {
    InstallOptions elsewhere = options;
    elsewhere.mirrors.clear();
    error.hint = retyped(elsewhere, text) + " --mirror URL_OR_DIRECTORY";
  }
  if (error.kind == ErrorKind::untrusted) {
    InstallOptions others = options;
    others.accept_manifest.clear();
    error.hint += retyped(others);
  }
  return fail(std::move(error));
}

}  // namespace cudaenv::commands
