// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/platform.hpp"
#include "core/registry_lookup.hpp"
#include "core/release_choice.hpp"
#include "core/version_text.hpp"
#include "installer/progress.hpp"
#include "redist/installer.hpp"
#include "redist/source.hpp"
#include "store/machine.hpp"
#include "store/receipt.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

constexpr std::string_view k_licence = "https://docs.nvidia.com/cuda/eula/";

// A source together with what it publishes.
struct OpenSource {
  redist::Source source;
  redist::Published published;
  core::Version release;  // the one of them that was asked for, if one was
};

std::vector<std::string> mirror_texts(const InstallOptions& options, const store::Settings& settings) {
  std::vector<std::string> texts = options.mirrors.empty() ? settings.mirrors() : options.mirrors;
  if (texts.empty()) texts.emplace_back(redist::k_nvidia_base);
  return texts;
}

Result<core::Version> release_of(const core::Spec& spec, const redist::Published& published,
                                 const core::Registry& registry) {
  auto release = core::choose_release(spec, published.releases, registry);
  // Where a base lists nothing, a release newer than this program may be there all the same.
  const bool is_worth_a_try = published.is_from_registry && spec.given == 3 &&
                              !core::find_release(registry, spec.version) && !core::mistaken_number(spec, registry);
  if (!release && is_worth_a_try) return spec.version;
  return release;
}

Result<OpenSource> open(const std::string& text, redist::PlainHttp plain_http, const std::optional<core::Spec>& wanted,
                        App& app) {
  CUDAENV_TRY(here, base::working_directory(app.environment));
  CUDAENV_TRY(source, redist::open_source(text, plain_http, here));
  CUDAENV_TRY(published, redist::published_releases(source, app.facts.registry()));
  OpenSource open{std::move(source), std::move(published), {}};
  if (wanted) {
    CUDAENV_TRY(release, release_of(*wanted, open.published, app.facts.registry()));
    open.release = release;
  }
  return open;
}

// The first base of the list that answers and has what is wanted. One that is down, gone or lacks it makes way for the
// next; what is wrong with the last one is the error.
Result<OpenSource> open_first(const std::vector<std::string>& texts, const store::Settings& settings,
                              const std::optional<core::Spec>& wanted, App& app) {
  const auto plain_http =
      settings.is_on("network.allow_http") ? redist::PlainHttp::everywhere : redist::PlainHttp::on_loopback;
  const bool is_a_mistake = wanted && core::mistaken_number(*wanted, app.facts.registry());
  for (std::size_t i = 0;; ++i) {
    auto opened = open(texts[i], plain_http, wanted, app);
    if (opened) return opened;
    const ErrorKind kind = opened.error().kind;
    const bool may_go_on =
        kind == ErrorKind::network || kind == ErrorKind::filesystem || (kind == ErrorKind::not_found && !is_a_mistake);
    if (!may_go_on || i + 1 == texts.size()) return opened;
    app.output.warning(fmt::format("{}; trying the next mirror", opened.error().message));
  }
}

// What to install: the argument, or what the selection asks for; nothing if that is an adopted toolkit. A selection
// that is satisfied asks for what satisfies it: `install` in a project does not update.
Result<std::optional<core::Spec>> wanted_spec(const InstallOptions& options, App& app, std::string& text) {
  if (options.spec) {
    text = *options.spec;
    CUDAENV_TRY(spec, parse_typed_spec(text));
    return spec;
  }
  store::Selected chosen = store::current_selection(app.roots);
  for (const std::string& warning : chosen.warnings) app.output.warning(warning);
  if (chosen.problem && chosen.status != core::SelectionStatus::not_installed) return fail(std::move(*chosen.problem));
  if (chosen.status == core::SelectionStatus::system)
    return fail(ErrorKind::usage, fmt::format("nothing says what to install: {}", chosen.origin_text()),
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
Result<ExitCode> list(const InstallOptions& options, App& app, const OpenSource& open) {
  std::string text = options.spec.value_or("latest");
  CUDAENV_TRY(spec, parse_typed_spec(text));
  std::size_t count = 0;
  for (const core::Version& release : open.published.releases) {
    if (!spec.matches(release)) continue;
    app.output.data(core::to_text(release) + "\n");
    ++count;
  }
  if (count == 0) {
    CUDAENV_CHECK(core::choose_release(spec, open.published.releases, app.facts.registry()));
  }
  if (open.published.is_from_registry)
    app.output.note(
        fmt::format("{} lists nothing; these are the releases known to cudaenv", open.source.location.shown()));
  return ExitCode::done;
}

Result<core::ComponentChoice> choice_of(const InstallOptions& options) {
  core::ComponentChoice choice;
  choice.with = options.with;
  choice.without = options.without;
  if (options.profile.empty()) return choice;
  const auto profile = core::parse_profile(options.profile);
  if (!profile)
    return fail(ErrorKind::usage, fmt::format("there is no profile \"{}\"", base::escaped(options.profile)),
                "--profile minimal", {"known: minimal, default, full"});
  choice.profile = *profile;
  return choice;
}

bool asks_for_components(const InstallOptions& options) {
  return !options.profile.empty() || !options.with.empty() || !options.without.empty();
}

// Whether nothing is to be done for a release that is there. An error if it is there in a way that stands against it.
Result<bool> is_done_already(const InstallOptions& options, App& app, const core::Version& release,
                             const core::ComponentPlan* plan) {
  const std::string name = core::to_text(release);
  CUDAENV_TRY(toolkit, store::find_toolkit(app.roots, name));
  if (!toolkit || (toolkit->is_shared && options.force)) return false;
  if (toolkit->adopted_from) {
    if (!options.force) {
      app.output.note(fmt::format("CUDA {} is there already: adopted from {}", name, toolkit->adopted_from->native()));
      return true;
    }
    return fail(ErrorKind::usage, fmt::format("{} is adopted from {}", name, toolkit->adopted_from->native()),
                fmt::format("cudaenv uninstall {}", name));
  }
  if (options.force) return false;
  if (asks_for_components(options) && !plan) return false;  // not known yet
  if (plan && asks_for_components(options)) {
    CUDAENV_TRY(receipt, store::read_receipt(toolkit->directory));
    std::vector<std::string> missing;
    for (const core::PlannedComponent& planned : plan->components)
      if (!receipt.has_component(planned.component->name)) missing.push_back(planned.component->name);
    if (!missing.empty())
      return fail(ErrorKind::usage, fmt::format("CUDA {} is installed without {}", name, base::join(missing, ", ")),
                  "run the command again with --force to install it anew");
  }
  app.output.note(fmt::format("CUDA {} is installed already{}", name, toolkit->is_shared ? " in the shared root" : ""));
  return true;
}

void print_plan(App& app, const core::Version& release, const std::string& platform, const core::ComponentPlan& plan,
                const OpenSource& open) {
  app.output.data(
      fmt::format("CUDA {} for {} from {}\n", core::to_text(release), platform, open.source.location.shown()));
  for (const core::PlannedComponent& planned : plan.components)
    app.output.data(fmt::format("  {:<24} {:<14} {:>10}\n", planned.component->name,
                                base::escaped(planned.component->version), base::human_size(planned.archive.size)));
  app.output.data(fmt::format("  {:<24} {:<14} {:>10}\n", fmt::format("{} components", plan.components.size()), "",
                              base::human_size(plan.download_size())));
}

void tell_unknown(App& app, const core::ComponentPlan& plan) {
  if (plan.unknown.empty()) return;
  app.output.warning(fmt::format("not installed, because this cudaenv does not know {}: {} (--with NAME installs one)",
                                 plan.unknown.size() == 1 ? "it" : "them", base::join(plan.unknown, ", ")));
}

Result<std::string> platform_of(const InstallOptions& options, const App& app, const core::Version& release,
                                const core::Manifest& manifest) {
  if (options.platform.empty()) return core::platform_for(store::this_machine(app.environment), release, manifest);
  CUDAENV_CHECK(core::check_platform(options.platform, release, manifest));
  return options.platform;
}

Result<ExitCode> install(const InstallOptions& options, App& app, const OpenSource& open, const core::Version& release,
                         std::string_view typed) {
  const std::string accepted = options.accept_manifest.empty()
                                   ? std::string(app.environment.value(env_names::k_accept_manifest))
                                   : options.accept_manifest;
  const core::Registry& registry = app.facts.registry();
  CUDAENV_TRY(fetched, redist::fetch_manifest(open.source, release, registry, {accepted}));
  if (!fetched.warning.empty()) app.output.warning(fetched.warning);
  CUDAENV_TRY(platform, platform_of(options, app, release, fetched.manifest));
  CUDAENV_TRY(choice, choice_of(options));
  CUDAENV_TRY(plan, core::plan_components(fetched.manifest, registry, release, platform, choice));
  tell_unknown(app, plan);
  if (options.dry_run) {
    print_plan(app, release, platform, plan, open);
    return ExitCode::done;
  }
  CUDAENV_TRY(done, is_done_already(options, app, release, &plan));
  if (done) return ExitCode::done;

  const std::string name = core::to_text(release);
  app.output.note(fmt::format("installing CUDA {} for {}: {} components, {} to fetch from {}", name, platform,
                              plan.components.size(), base::human_size(plan.download_size()),
                              open.source.location.shown()));
  app.output.note(fmt::format("NVIDIA's licence applies to what is fetched: {}", k_licence));
  const auto start = std::chrono::steady_clock::now();
  Result<redist::InstallOutcome> outcome = redist::InstallOutcome{};
  {
    installer::Progress progress(app.output, plan);
    outcome = redist::install(open.source, plan, {release, platform, choice, fetched.sha256, options.force},
                              app.roots.own, progress);
  }
  if (!outcome) return fail(std::move(outcome).error());
  if (auto refreshed = refresh_shims(app); !refreshed)
    return fail(std::move(refreshed).error().during(
        fmt::format("CUDA {} itself is installed; its commands appear after: cudaenv rehash", name)));
  if (!outcome->was_there)
    app.output.note(fmt::format("installed CUDA {}: {} in {} files, {:.1f} s", name,
                                base::human_size(outcome->installed_size), outcome->file_count,
                                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  app.output.note(fmt::format("to use it here: cudaenv local {}",
                              options.spec && typed != "latest" && typed != "auto" ? typed : name));
  return ExitCode::done;
}

}  // namespace

Result<ExitCode> run(const InstallOptions& options, App& app) {
  base::catch_interrupts();
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  if (options.list) {
    CUDAENV_TRY(open, open_first(mirror_texts(options, settings), settings, std::nullopt, app));
    return list(options, app, open);
  }
  std::string text;
  CUDAENV_TRY(wanted, wanted_spec(options, app, text));
  if (!wanted) return ExitCode::done;
  const core::Spec& spec = *wanted;
  if (spec.given == 3 && !options.dry_run) {
    CUDAENV_TRY(done, is_done_already(options, app, spec.version, nullptr));  // no need to ask the network
    if (done) return ExitCode::done;
  }
  CUDAENV_TRY(open, open_first(mirror_texts(options, settings), settings, spec, app));
  return install(options, app, open, open.release, text);
}

}  // namespace cudaenv::commands
