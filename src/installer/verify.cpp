// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "commands/run.hpp"
#include "core/layout.hpp"
#include "redist/verify_tree.hpp"
#include "store/receipt.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::commands {
namespace {

using base::Value;

constexpr std::size_t k_most_lines = 20;

// What was found of one toolkit.
struct Verified {
  store::Toolkit toolkit;
  redist::TreeReport report = {};
  std::string remark = {};  // why less than all could be compared; empty: all was

  bool is_whole() const { return report.is_whole(); }
};

Result<store::Toolkit> toolkit_of(const std::optional<std::string>& typed, App& app) {
  CUDAENV_TRY(chosen, selected_or_error(app, typed));
  if (!chosen.is_toolkit())
    return fail(ErrorKind::usage,
                typed ? std::string("\"system\" is no toolkit of cudaenv")
                      : fmt::format("no version was given, and {}", chosen.origin_text()),
                "cudaenv verify --all");
  CUDAENV_TRY(toolkit, store::find_toolkit(app.roots, chosen.name));
  if (toolkit) return std::move(*toolkit);
  return fail(ErrorKind::not_installed, fmt::format("{} is not installed", chosen.name), "cudaenv versions");
}

Result<std::vector<store::Toolkit>> toolkits_of(const VerifyOptions& options, App& app) {
  if (options.all) return store::registered_toolkits(app.roots);
  std::vector<store::Toolkit> toolkits;
  if (options.versions.empty()) {
    CUDAENV_TRY(toolkit, toolkit_of(std::nullopt, app));
    toolkits.push_back(std::move(toolkit));
  }
  for (const std::string& typed : options.versions) {
    CUDAENV_TRY(toolkit, toolkit_of(typed, app));
    const bool is_there = std::any_of(toolkits.begin(), toolkits.end(),
                                      [&](const store::Toolkit& other) { return other.name == toolkit.name; });
    if (!is_there) toolkits.push_back(std::move(toolkit));
  }
  return toolkits;
}

// Whether an adopted toolkit has the file, in any of the layouts there are.
bool has_compiler_file(const base::Path& toolkit, const std::string& path) {
  if (path == "nv/target")
    return base::path_exists(toolkit / "include" / path) || base::path_exists(toolkit / "include/cccl" / path);
  if (path.starts_with("lib/") && base::path_exists(toolkit / ("lib64" + path.substr(3)))) return true;
  return base::path_exists(toolkit / path);
}

// Of an adopted toolkit nobody has written down what it is made of.
Verified verify_adopted(store::Toolkit toolkit) {
  const std::string from = base::escaped(toolkit.adopted_from->native());
  Verified verified{std::move(toolkit)};
  if (verified.toolkit.is_missing) {
    verified.report.faulty.push_back({".", redist::FileFault::missing, "adopted from " + from});
    return verified;
  }
  const base::Path& directory = verified.toolkit.directory;
  verified.remark = fmt::format("adopted from {}, so there is no receipt to compare it with", from);
  // A distribution may keep the headers among its own, and nvcc then finds the rest elsewhere too.
  const bool is_of_one_piece = base::path_exists(directory / "include/cuda_runtime.h");
  for (const std::string& path : core::missing_compiler_files({}))
    if ((is_of_one_piece || path.starts_with("bin/nvcc")) && !has_compiler_file(directory, path))
      verified.report.faulty.push_back({path, redist::FileFault::missing, {}});
  return verified;
}

Result<Verified> verify(store::Toolkit toolkit, App& app) {
  if (toolkit.adopted_from) return verify_adopted(std::move(toolkit));
  auto receipt = store::read_receipt(toolkit.directory);
  Verified verified{std::move(toolkit)};
  if (!receipt) {
    verified.report.faulty.push_back(
        {std::string(core::k_receipt_name), redist::FileFault::unreadable, receipt.error().message});
    verified.remark = "nothing could be compared with it";
    return verified;
  }
  const auto show = [&](std::uint64_t done, std::uint64_t all) {
    if (!app.output.can_redraw() || app.output.verbosity() == base::Verbosity::quiet) return;
    const std::string line =
        fmt::format("verifying {}  {} of {}", verified.toolkit.name, base::human_size(done), base::human_size(all));
    app.output.redraw({&line, 1});
  };
  auto report = redist::compare_with_receipt(
      verified.toolkit.directory, *receipt, std::thread::hardware_concurrency(), [] { return !base::is_interrupted(); },
      show);
  app.output.clear_drawn();
  if (!report) return fail(std::move(report).error());
  verified.report = std::move(*report);
  return verified;
}

// --- In lines ---

std::string summary_of(const Verified& verified) {
  const redist::TreeReport& report = verified.report;
  const std::string remark = verified.remark.empty() ? "" : "; " + verified.remark;
  if (verified.toolkit.adopted_from)
    return (report.is_whole() ? "the compiler is whole" : "not a whole compiler") + remark;
  if (!verified.remark.empty()) return "its receipt cannot be read" + remark;
  if (report.is_whole())
    return fmt::format("{} files, {}, all as installed", report.file_count, base::human_size(report.hashed));
  return fmt::format("not as installed: {} of {} files", report.faulty_files(), report.file_count);
}

void print(App& app, const Verified& verified) {
  const redist::TreeReport& report = verified.report;
  const bool shows_all = app.output.verbosity() == base::Verbosity::verbose;
  std::string text = fmt::format("{}: {}\n", verified.toolkit.name, summary_of(verified));
  const std::size_t shown = shows_all ? report.faulty.size() : std::min(report.faulty.size(), k_most_lines);
  for (std::size_t i = 0; i < shown; ++i) {
    const redist::FaultyFile& faulty = report.faulty[i];
    text += fmt::format("  {:<10} {}{}\n", redist::to_text(faulty.fault), base::escaped(faulty.path),
                        faulty.detail.empty() ? "" : fmt::format(" ({})", faulty.detail));
  }
  if (shown < report.faulty.size())
    text += fmt::format("  and {} more; --verbose lists them all\n", report.faulty.size() - shown);
  app.output.data(text);
  if (report.extra.empty()) return;
  app.output.note(fmt::format("{}: {} in it that cudaenv did not install{}", verified.toolkit.name,
                              report.extra.size() == 1 ? "a file is" : fmt::format("{} files are", report.extra.size()),
                              shows_all ? "" : "; --verbose names them"));
  for (const std::string& path : report.extra) app.output.detail("  " + base::escaped(path));
}

// --- JSON ---

Value document(const std::vector<Verified>& list) {
  Value::Array toolkits;
  for (const Verified& verified : list) {
    Value::Array faulty;
    for (const redist::FaultyFile& file : verified.report.faulty)
      faulty.emplace_back(Value::Object{{"path", file.path},
                                        {"fault", redist::to_text(file.fault)},
                                        {"detail", file.detail.empty() ? Value() : Value(file.detail)}});
    Value::Array extra;
    for (const std::string& path : verified.report.extra) extra.emplace_back(path);
    toolkits.emplace_back(Value::Object{{"name", verified.toolkit.name},
                                        {"directory", verified.toolkit.directory.native()},
                                        {"adopted", verified.toolkit.adopted_from.has_value()},
                                        {"whole", verified.is_whole()},
                                        {"remark", verified.remark.empty() ? Value() : Value(verified.remark)},
                                        {"files", verified.report.file_count},
                                        {"bytes", verified.report.hashed},
                                        {"faulty", std::move(faulty)},
                                        {"extra", std::move(extra)}});
  }
  return Value::Object{{"toolkits", std::move(toolkits)}};
}

// The first that can be repaired is in the hint.
Error damage(const std::vector<Verified>& list, const App& app) {
  std::vector<std::string> names;
  std::string hint;
  for (const Verified& verified : list) {
    const store::Toolkit& toolkit = verified.toolkit;
    if (verified.is_whole()) continue;
    names.push_back(toolkit.name);
    if (!hint.empty() || toolkit.adopted_from) continue;
    const std::string root =
        toolkit.is_shared ? fmt::format("CUDAENV_ROOT={} ", base::escaped(app.roots.shared->path.native())) : "";
    hint = fmt::format("{}cudaenv {}", root,
                       verified.remark.empty() ? "repair " + toolkit.name : "install " + toolkit.name + " --force");
  }
  return Error{ErrorKind::integrity,
               fmt::format("{} {} not whole", base::join(names, ", "), names.size() == 1 ? "is" : "are"), hint};
}

}  // namespace

Result<ExitCode> run(const VerifyOptions& options, App& app) {
  base::catch_interrupts();
  CUDAENV_TRY(toolkits, toolkits_of(options, app));
  std::vector<Verified> list;
  for (store::Toolkit& toolkit : toolkits) {
    CUDAENV_TRY(verified, verify(std::move(toolkit), app));
    if (!options.json) print(app, verified);
    list.push_back(std::move(verified));
  }
  if (options.json) app.output.json(document(list));
  if (list.empty()) app.output.note("no toolkit is installed");
  if (std::all_of(list.begin(), list.end(), [](const Verified& verified) { return verified.is_whole(); }))
    return ExitCode::done;
  if (options.json) return ExitCode::integrity;
  return fail(damage(list, app));
}

}  // namespace cudaenv::commands
