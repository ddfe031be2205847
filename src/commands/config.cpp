// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"

namespace cudaenv::commands {
namespace {

Result<ExitCode> list(App& app, const store::Settings& settings) {
  for (const store::SettingRow& row : store::setting_rows()) {
    const store::SettingValue& value = settings[row.key];
    app.output.data(
        fmt::format("{} = {}  ({})\n", row.key, base::join(value.values, " "), base::escaped(value.set_by)));
  }
  return ExitCode::done;
}

Result<ExitCode> get(const ConfigOptions& options, App& app, const store::Settings& settings) {
  for (const std::string& value : settings[options.key].values) app.output.data(value + "\n");
  return ExitCode::done;
}

}  // namespace

Result<ExitCode> run(const ConfigOptions& options, App& app) {
  if (options.action == "get") CUDAENV_CHECK(store::require_setting(options.key));
  if (options.action == "set") {
    CUDAENV_CHECK(store::write_setting(app.roots, options.key, options.values));
    return ExitCode::done;
  }
  if (options.action == "unset") {
    CUDAENV_CHECK(store::remove_setting(app.roots, options.key));
    return ExitCode::done;
  }
  CUDAENV_TRY(chosen, selected(app, std::nullopt));
  CUDAENV_TRY(settings, settings_for(app, chosen));
  return options.action == "get" ? get(options, app, settings) : list(app, settings);
}

}  // namespace cudaenv::commands
