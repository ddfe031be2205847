// SPDX-License-Identifier: Apache-2.0
// `local` and `global`: the version file of the working directory, and that of the root.
#include <cerrno>

#include <unistd.h>

#include <fmt/format.h>

#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/gate.hpp"
#include "commands/judged.hpp"
#include "commands/run.hpp"
#include "core/release_choice.hpp"
#include "core/version_file.hpp"
#include "store/exemptions.hpp"

namespace cudaenv::commands {
namespace {

std::string_view command_of(PinTarget target) { return target == PinTarget::local ? "local" : "global"; }

Result<base::Path> file_of(PinTarget target, const App& app) {
  if (target == PinTarget::global) return app.roots.own.version_file();
  CUDAENV_TRY(directory, base::working_directory(app.environment));
  return directory / core::k_version_file_name;
}

Result<ExitCode> show(const PinOptions& options, App& app) {
  store::Selected chosen = store::current_selection(
      app.roots, options.target == PinTarget::local ? store::Look::project_files : store::Look::root_files);
  for (const std::string& warning : chosen.warnings) app.output.warning(warning);
  if (chosen.problem && chosen.status != core::SelectionStatus::not_installed) return fail(std::move(*chosen.problem));
  if (chosen.origin == core::OriginKind::none && options.target == PinTarget::local) {
    CUDAENV_TRY(directory, base::working_directory(app.environment));
    return fail(
        ErrorKind::not_found,
        fmt::format("there is no {} in {} or above it", core::k_version_file_name, base::escaped(directory.native())),
        "cudaenv local VERSION");
  }
  app.output.data(chosen.word + "\n");
  return ExitCode::done;
}

Result<ExitCode> unset(const PinOptions& options, App& app) {
  CUDAENV_TRY(file, file_of(options.target, app));
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return fail(base::file_error("remove", file, errno));
  CUDAENV_CHECK(store::drop_exemption(app.roots, file));
  return ExitCode::done;
}

// Whether it can be nothing else: `ssh-ed25519 AAAA...` and a password read as a name too, and any file may hold
// nothing but comments.
bool is_surely_a_version_file(std::string_view content, const core::VersionText& text, const App& app) {
  if (text.status == core::VersionTextStatus::empty) return base::trimmed(content).empty();
  if (text.status != core::VersionTextStatus::spec || !text.extra.empty()) return false;
  return text.spec.kind != core::SpecKind::name || store::select_spec(app.roots, text.spec).is_toolkit();
}

// A cloned project may bring a link to any file of the user's: through it only a version file is written.
Result<void> check_link(const base::Path& file, const std::optional<std::string>& content, PinTarget target,
                        const App& app) {
  if (base::entry_kind(file) != base::EntryKind::link) return {};
  // A person's own link to the global file may lead to one that is yet to be made; a project's is not followed there.
  if (!content && target == PinTarget::global) return {};
  if (content && is_surely_a_version_file(*content, core::parse_version_text(*content), app)) return {};
  CUDAENV_TRY(leads_to, base::link_target(file));
  return fail(ErrorKind::config,
              fmt::format("{} is a link to {}, which is not a version file", base::escaped(file.native()),
                          base::escaped(leads_to.native())),
              fmt::format("cudaenv {} --unset", command_of(target)), {"nothing was written"});
}

// The new content of a version file. Only the word that counts is replaced: comments and line ends are the user's.
Result<std::string> with_spec(const base::Path& file, const PinOptions& options, const App& app) {
  const std::string& spec = *options.spec;
  CUDAENV_TRY(before, base::read_file(file));
  CUDAENV_CHECK(check_link(file, before, options.target, app));
  if (!before) return spec + "\n";
  const core::VersionText text = core::parse_version_text(*before);
  std::string after = *before;
  if (text.status == core::VersionTextStatus::empty)
    return after + (after.empty() || after.ends_with('\n') || after.ends_with('\r') ? "" : "\n") + spec + "\n";
  if (text.word.empty()) return spec + "\n";  // UTF-16, too large: nothing to be kept in it
  after.replace(static_cast<std::size_t>(text.word.data() - before->data()), text.word.size(), spec);
  return after;
}

std::string forced(const PinOptions& options) {
  return fmt::format("cudaenv {} {} --force", command_of(options.target), *options.spec);
}

// An error unless it is installed, or need not be.
Result<void> check_installed(const PinOptions& options, store::Selected& chosen, App& app) {
  if (!chosen.problem) return {};
  if (!options.force) {
    Error error = std::move(*chosen.problem);
    error.details.push_back(fmt::format("nothing was written; `{}` writes it all the same", forced(options)));
    return fail(std::move(error));
  }
  app.output.warning(chosen.problem->message);
  return {};
}

// The settings that will be in force with the file: those of its directory, whose gate may be stricter.
Result<store::Settings> settings_with(const base::Path& file, PinTarget target, App& app) {
  std::optional<base::Path> project;
  if (target == PinTarget::local) project = file.parent_path();
  CUDAENV_TRY(settings, store::load_settings(app.roots, app.environment, project));
  for (const std::string& warning : settings.warnings()) app.output.warning(warning);
  return std::move(settings);
}

enum class Exempt { no, yes };

// What is not there yet is judged by its number: it will be refused once it is there, and who wants it should know.
Result<Exempt> check_release(const PinOptions& options, const store::Settings& settings, App& app) {
  const auto spec = core::parse_spec(*options.spec);
  const auto release = spec ? core::newest_known(*spec, app.facts.registry()) : std::nullopt;
  if (!release || settings.gate_mode() == store::GateMode::off) return Exempt::no;
  CUDAENV_TRY(machine, app.machine.facts(Asking::anew));
  const core::Assessment assessment = core::check(app.facts.registry(), toolkit_facts(*release), *machine);
  if (!is_objection(assessment.verdict, settings)) return Exempt::no;
  app.output.warning(fmt::format("the gate will let it pass here, though: {}", one_line(assessment)));
  return Exempt::yes;
}

// Whether the file may name the toolkit, and whether by an exemption. A machine that cannot tell (a login node) is no
// reason to forget that somebody insisted.
Result<Exempt> check_gate(const PinOptions& options, const store::Selected& chosen, const base::Path& file, App& app) {
  CUDAENV_TRY(settings, settings_with(file, options.target, app));
  if (chosen.problem) return check_release(options, settings, app);
  const Passage passage{Asking::anew, Telling::all, forced(options),
                        fmt::format("cudaenv {} VERSION", command_of(options.target))};
  const auto passed = pass_gate(app, chosen, settings, passage);
  if (passed) return options.force && *passed != core::Verdict::ok ? Exempt::yes : Exempt::no;
  if (passed.error().kind != ErrorKind::incompatible || !options.force) return fail(passed.error());
  const std::vector<std::string>& details = passed.error().details;
  app.output.warning(
      fmt::format("set all the same, though {}", details.empty() ? passed.error().message : details.front()));
  return Exempt::yes;
}

}  // namespace

Result<ExitCode> run(const PinOptions& options, App& app) {
  if (options.unset) {
    if (options.spec)
      return fail(ErrorKind::usage, fmt::format("{} takes a version or --unset, not both", command_of(options.target)));
    return unset(options, app);
  }
  if (!options.spec) return show(options, app);

  CUDAENV_TRY(chosen, selected(app, options.spec));
  CUDAENV_CHECK(check_installed(options, chosen, app));
  CUDAENV_TRY(file, file_of(options.target, app));
  CUDAENV_TRY(exempt, check_gate(options, chosen, file, app));
  CUDAENV_TRY(content, with_spec(file, options, app));
  if (options.target == PinTarget::global) CUDAENV_CHECK(base::make_directories(app.roots.own.path));
  // The exemption first: killed in between, there is one for a spec that is not selected, which does nothing.
  if (exempt == Exempt::yes)
    CUDAENV_CHECK(store::record_exemption(app.roots, {file, *options.spec}));
  else
    CUDAENV_CHECK(store::drop_exemption(app.roots, file));
  CUDAENV_CHECK(base::write_file(file, content));
  if (chosen.word == "auto" && chosen.is_toolkit()) app.output.note(fmt::format("auto is {} here", chosen.name));
  return ExitCode::done;
}

}  // namespace cudaenv::commands
