// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/version_text.hpp"
#include "installer/add_products.hpp"
#include "installer/retyped.hpp"
#include "installer/sources.hpp"
#include "store/settings.hpp"

namespace cudaenv::commands {
namespace {

Result<ExitCode> add(const AddOptions& options, App& app) {
  const core::Registry& registry = app.facts.registry();
  auto into = installer::changeable_toolkit(app, options.to, retyped(options) + " --to");
  // What is no product at all is that whatever the toolkit.
  CUDAENV_TRY(wanted, installer::wanted_products(options.products, registry,
                                                 into ? std::optional(into->receipt.release) : std::nullopt));
  if (!into) return fail(std::move(into).error());
  const store::Receipt& receipt = into->receipt;

  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, std::nullopt));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  CUDAENV_TRY(bases, installer::open_sources(options.mirrors, settings, app));
  const std::string command = fmt::format("{} --to {}", retyped(options), into->toolkit.name);
  CUDAENV_TRY(missing,
              installer::missing_products(app, wanted, &receipt, bases,
                                          {receipt.release, receipt.platform,
                                           installer::accepted_manifest(options.accept_manifest, app), command}));
  if (options.dry_run)
    installer::print_products(app, missing, &receipt);
  else if (!missing.empty())
    CUDAENV_CHECK(installer::add_products(app, *into, std::move(missing), command));
  return ExitCode::done;
}

}  // namespace

Result<ExitCode> run(const AddOptions& options, App& app) {
  base::catch_interrupts();
  auto done = add(options, app);
  if (!done && done.error().kind == ErrorKind::network && done.error().hint.empty()) {
    AddOptions elsewhere = options;
    elsewhere.mirrors.clear();
    done.error().hint =
        fmt::format("{}{} --mirror URL_OR_DIRECTORY", retyped(elsewhere), options.to ? " --to " + *options.to : "");
  }
  return done;
}

}  // namespace cudaenv::commands
