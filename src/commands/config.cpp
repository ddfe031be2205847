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

Result<void> check_key(const std::string& key) {
  if (store::find_setting(key)) return {};
  std::vector<std::string_view> keys;
  for (const store::SettingRow& row : store::setting_rows()) keys.push_back(row.key);
  const std::vector<std::string> near = base::did_you_mean(key, keys);
  return fail(ErrorKind::config, fmt::format("there is no setting \"{}\"", base::escaped(key)),
              near.empty() ? "cudaenv config list" : "cudaenv config get " + near.front());
}

}  // namespace

Result<ExitCode> run(const ConfigOptions& options, App& app) {
  if (options.action == "get" || options.action == "set" || options.action == "unset")
    CUDAENV_CHECK(check_key(options.key));
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
