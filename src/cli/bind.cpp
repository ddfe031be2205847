// SPDX-License-Identifier: Apache-2.0
#include "cli/bind.hpp"

#include <fmt/format.h>

namespace cudaenv::cli {

using namespace commands;

namespace {

constexpr const char* k_platforms = "linux-x86_64|linux-sbsa|linux-aarch64|linux-ppc64le";

// What to take of a release, and where from: the same for each command that fetches.
template <class T>
void bind_choice(CLI::App& app, T& options) {
  app.add_option("--profile", options.profile, "which components")->type_name("minimal|default|full");
  list_option(app, "--with", options.with, "COMPONENT", "a further component");
  list_option(app, "--without", options.without, "PART", "a component to leave out, or \"static\" or \"samples\"");
}

template <class T>
void bind_mirrors(CLI::App& app, T& options) {
  app.add_option("--mirror", options.mirrors, "base URL or directory to fetch from (may be repeated)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("URL");
}

template <class T>
void bind_source(CLI::App& app, T& options) {
  bind_mirrors(app, options);
  app.add_option("--accept-manifest", options.accept_manifest, "sha256 of a manifest to accept, or any");
}

}  // namespace

void list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& type,
                 const std::string& help) {
  app.add_option(name, values, help + " (may be repeated)")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)  // what follows its value is an argument of the command
      ->type_name(type);
}

void bind(CLI::App& app, InstallOptions& options) {
  option(app, "spec", options.spec, "12, 12.8, 12.8.1, latest, or auto: the newest that fits this machine")
      ->type_name("RELEASE");
  bind_choice(app, options);
  app.add_option("--platform", options.platform, "install for another kind of machine")->type_name(k_platforms);
  bind_source(app, options);
  list_option(app, "--add", options.add, "PRODUCT", "another product: cudnn, cutensor@2.3, ...");
  option(app, "-j,--jobs", options.jobs, "how many components to unpack at once; 0: one a core")
      ->check(CLI::Range(0, 256).description(""))
      ->type_name("N");
  app.add_flag("--force", options.force, "install anew what is installed");
  app.add_flag("--dry-run", options.dry_run, "show what would be fetched, and stop");
  app.add_flag("--list", options.list, "list the releases that can be installed");
  app.add_flag("--locked", options.locked, "just what cuda.lock says, bit for bit");
}

void bind(CLI::App& app, LockOptions& options) {
  option(app, "spec", options.spec, "which release; default: what the selection asks for")->type_name("RELEASE");
  bind_choice(app, options);
  list_option(app, "--platform", options.platforms, fmt::format("{}|all", k_platforms),
              "a kind of machine to lock for");
  bind_source(app, options);
  list_option(app, "--add", options.add, "PRODUCT", "another product: cudnn, cutensor@2.3, ...");
  app.add_option("--output", options.output, "where to write; default: beside .cuda-version")->type_name("FILE");
  app.add_flag("--check", options.check, "write nothing; exit 1 if it is not up to date");
}

void bind(CLI::App& app, MirrorOptions& options) {
  app.add_option("directory", options.directory, "where to put it; made if it is not there")->required();
  app.add_option("spec", options.specs, "12, 12.8, 12.8.1, latest")->type_name("RELEASE");
  bind_choice(app, options);
  list_option(app, "--platform", options.platforms, fmt::format("{}|all", k_platforms),
              "a kind of machine to fetch for; default: this one");
  bind_source(app, options);
  app.add_flag("--dry-run", options.dry_run, "show what would be fetched, and stop");
  app.add_flag("--verify", options.verify, "check what is there against its manifests");
}

void bind(CLI::App& app, AddOptions& options) {
  app.add_option("product", options.products, "cudnn, cudnn@9, cudnn@9.14, cudnn@latest")
      ->required()
      ->type_name("PRODUCT");
  option(app, "--to", options.to, "which toolkit; default: the selected one")->type_name("SPEC");
  bind_source(app, options);
  app.add_flag("--dry-run", options.dry_run, "show what would be fetched, and stop");
}

void bind(CLI::App& app, RemoveOptions& options) {
  app.add_option("product", options.products, "cudnn, cutensor, ...")->required()->type_name("PRODUCT");
  option(app, "--from", options.from, "which toolkit; default: the selected one")->type_name("SPEC");
}

void bind(CLI::App& app, RepairOptions& options) {
  app.add_option("version", options.versions, "12.8.1; default: the selected one")->type_name("TOOLKIT");
  bind_mirrors(app, options);
}

}  // namespace cudaenv::cli
