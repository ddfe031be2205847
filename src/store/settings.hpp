// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "core/env_plan.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

enum class SettingType { word, boolean, integer, list };

// What the gate does with a toolkit that does not run here: refuse it, warn, or not look at all.
enum class GateMode { on, warn, off };

// One setting: the single row from which file, variable, command, help and completion are made.
struct SettingRow {
  std::string_view key;  // "env.library_path"
  SettingType type;
  std::string_view fallback;                // what holds when nobody sets it
  std::span<const std::string_view> words;  // word: those allowed; empty: any text
  bool is_for_projects;                     // may stand in a project's .cudaenv.toml
  std::string_view summary;
  bool is_protective = false;            // `words` go from strict to loose, and a project may only make it stricter
  std::string_view short_variable = {};  // a second name of its variable, which comes before the other
  std::int64_t least = 0;                // integer: the range of what it may be, inclusive
  std::int64_t most = 0;
};

std::span<const SettingRow> setting_rows();  // sorted by key
const SettingRow* find_setting(std::string_view key);
// The same, or ErrorKind::config with the nearest known one.
[[nodiscard]] Result<const SettingRow*> require_setting(std::string_view key);

// "env.library_path" -> "CUDAENV_ENV_LIBRARY_PATH"
std::string variable_of(const SettingRow& row);

// A value and who set it: a variable, a file, or nobody ("default").
struct SettingValue {
  std::vector<std::string> values;  // one but for lists
  std::string set_by;
};

// The settings in force: variable, then the project's .cudaenv.toml, then ROOT/config.toml, then the default.
class Settings {
 public:
  const SettingValue& operator[](std::string_view key) const;
  const std::string& word(std::string_view key) const { return (*this)[key].values.front(); }
  bool is_on(std::string_view key) const { return word(key) == "true"; }
  std::int64_t number(std::string_view key) const;
  const std::vector<std::string>& warnings() const { return m_warnings; }

  std::vector<std::string> mirrors() const { return (*this)["mirror"].values; }
  core::LibraryPath library_path() const;
  GateMode gate_mode() const;
  bool refuses_limited() const { return word("gate.limited") == "refuse"; }

 private:
  friend Result<Settings> load_settings(const Roots&, const base::Environment&, const std::optional<base::Path>&);
  std::vector<SettingValue> m_values;  // in the order of setting_rows()
  std::vector<std::string> m_warnings;
};

// `project`: the directory whose .cuda-version is in force. ErrorKind::config names file and key of a bad value; an
// unknown key is a warning.
[[nodiscard]] Result<Settings> load_settings(const Roots& roots, const base::Environment& environment,
                                             const std::optional<base::Path>& project);

// Where a value stands, and what to type where it is wrong.
struct SettingPlace {
  std::string name;  // fit to be printed
  std::string hint;
};
std::string set_command(const SettingRow& row);  // to a value that is allowed
std::string edit_command(const base::Path& file);

// ErrorKind::config, naming the place, unless the setting may have that value.
[[nodiscard]] Result<void> check_setting(const SettingRow& row, const SettingPlace& place,
                                         const std::vector<std::string>& values);
// For a file that is no TOML: `error` is the parser's.
Error broken_settings(const base::Path& file, const Error& error);

// Changes ROOT/config.toml, keeping everything else in it, comments too. ErrorKind::config for an unknown key or a
// value that is not allowed.
[[nodiscard]] Result<void> write_setting(const Roots& roots, std::string_view key,
                                         const std::vector<std::string>& values);
// Whether there was something to remove.
[[nodiscard]] Result<bool> remove_setting(const Roots& roots, std::string_view key);

}  // namespace cudaenv::store
