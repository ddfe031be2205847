// SPDX-License-Identifier: Apache-2.0
#include "store/settings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include <unistd.h>

#include <fmt/format.h>

#include "base/env_names.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"

namespace cudaenv::store {
namespace {

using base::Value;

constexpr std::array<std::string_view, 3> k_library_path_words = {"none", "shims", "toolkit"};

constexpr std::array<std::string_view, 2> k_gate_limited_words = {"refuse", "warn"};
constexpr std::array<std::string_view, 3> k_gate_mode_words = {"on", "warn", "off"};

constexpr SettingRow k_rows[] = {
    {"env.compiler_paths",
     SettingType::boolean,
     "false",
     {},
     true,
     "put the toolkit's include and lib on CPATH and LIBRARY_PATH"},
    {"env.library_path", SettingType::word, "shims", k_library_path_words, true,
     "what comes first on LD_LIBRARY_PATH: the library shims, the toolkit's lib, or nothing"},
    {"gate.limited", SettingType::word, "warn", k_gate_limited_words, true,
     "whether a toolkit that runs here with limits is refused, or activated with a warning", true},
    {"gate.mode", SettingType::word, "on", k_gate_mode_words, true,
     "whether a toolkit that does not run here is refused, only warned of, or not looked at", true, env_names::k_gate},
    {"install.jobs",
     SettingType::integer,
     "0",
     {},
     false,
     "how many components are unpacked at once; 0: one a core",
     false,
     {},
     0,
     256},
    {"install.keep_archives", SettingType::boolean, "false", {}, false, "keep fetched archives in the cache"},
    {"mirror",
     SettingType::list,
     "",
     {},
     false,
     "base URLs or directories that releases are fetched from, tried in order"},
    {"network.allow_http", SettingType::boolean, "false", {}, false, "fetch over plain http from other machines too"},
    {"network.idle_timeout",
     SettingType::integer,
     "30",
     {},
     false,
     "seconds without a byte after which a download is tried anew",
     false,
     {},
     1,
     3600},
    {"network.retries",
     SettingType::integer,
     "6",
     {},
     false,
     "how often a download is tried again that brings nothing",
     false,
     {},
     0,
     100},
};
static_assert(std::is_sorted(std::begin(k_rows), std::end(k_rows),
                             [](const SettingRow& a, const SettingRow& b) { return a.key < b.key; }));

std::string expected(const SettingRow& row) {
  switch (row.type) {
    case SettingType::boolean: return "true or false";
    case SettingType::integer: return fmt::format("a whole number from {} to {}", row.least, row.most);
    case SettingType::list: return "text, or a list of texts";
    case SettingType::word: break;
  }
  return row.words.empty() ? "text" : fmt::format("one of {}", fmt::join(row.words, ", "));
}

// `found`: "cannot be ...", "is ..."
tl::unexpected<Error> bad_value(const SettingRow& row, const SettingPlace& place, std::string_view found) {
  return fail(ErrorKind::config, fmt::format("{}: {} {}", place.name, row.key, found), place.hint,
              {fmt::format("expected {}", expected(row))});
}

tl::unexpected<Error> not_allowed(const SettingRow& row, const SettingPlace& place, std::string_view value) {
  return bad_value(row, place, fmt::format("cannot be \"{}\"", base::escaped(value)));
}

// A value that a setting of that type cannot have, in words.
std::string described(const Value& value) {
  if (const bool* boolean = value.as_bool()) return *boolean ? "true" : "false";
  if (const std::int64_t* number = value.as_integer()) return fmt::format("the number {}", *number);
  if (const double* number = value.as_double()) return fmt::format("the number {}", *number);
  if (const std::string* text = value.as_string()) return fmt::format("the text \"{}\"", base::escaped(*text));
  const Value::Array* array = value.as_array();
  if (!array) return "a table";
  for (const Value& element : *array)
    if (!element.as_string()) return fmt::format("a list that holds {}", described(element));
  return "a list";
}

// Of decimal digits alone.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::vector<std::string>> texts_of(const SettingRow& row, const Value& value) {
  if (const std::int64_t* number = value.as_integer())
    return row.type == SettingType::integer ? std::optional(std::vector<std::string>{std::to_string(*number)})
                                            : std::nullopt;
  if (const bool* boolean = value.as_bool())
    return row.type == SettingType::boolean ? std::optional(std::vector<std::string>{*boolean ? "true" : "false"})
                                            : std::nullopt;
  if (const std::string* text = value.as_string())
    return row.type == SettingType::word || row.type == SettingType::list
               ? std::optional(std::vector<std::string>{*text})
               : std::nullopt;
  const Value::Array* array = value.as_array();
  if (!array || row.type != SettingType::list) return std::nullopt;
  std::vector<std::string> texts;
  for (const Value& element : *array) {
    const std::string* text = element.as_string();
    if (!text) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

bool is_address_or_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("file:") || text.find("://") != text.npos;
}

// The elements of a list in a variable: one a line, or several with blanks between them if each is an address or an
// absolute path. So a directory with a blank in its name stays whole.
std::vector<std::string> listed_in(std::string_view value) {
  std::vector<std::string> texts;
  for (std::string_view line : base::split(value, '\n')) {
    line = base::trimmed(line);
    std::vector<std::string_view> parts = base::split(line, ' ');
    std::erase(parts, std::string_view());
    if (!std::all_of(parts.begin(), parts.end(), is_address_or_absolute)) parts = {line};
    texts.insert(texts.end(), parts.begin(), parts.end());
  }
  return texts;
}

std::vector<std::string> similar_settings(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const SettingRow& row : k_rows) keys.push_back(row.key);
  return base::did_you_mean(key, keys);
}

enum class FileKind { own, shared, project };

// Whether the first of two values of a protective setting lets more pass.
bool is_looser(const SettingRow& row, const std::string& value, const std::string& other) {
  const auto at = [&](const std::string& word) { return std::find(row.words.begin(), row.words.end(), word); };
  return at(value) > at(other);
}

SettingPlace place_in(const base::Path& path, FileKind kind, const SettingRow& row) {
  return {base::escaped(path.native()), kind == FileKind::own ? set_command(row) : edit_command(path)};
}

// The shared root may be meant for others: what this user may not read is not there for them.
bool is_forbidden(const base::Path& path) { return ::access(path.c_str(), R_OK) != 0 && errno == EACCES; }

class Loader {
 public:
  Loader() {
    for (const SettingRow& row : k_rows)
      values.push_back(
          {row.fallback.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(row.fallback)},
           "default"});
  }

  Result<void> read(const base::Path& path, FileKind kind) {
    CUDAENV_TRY(content, base::read_file(path, 1 << 20));
    if (!content) return {};
    auto document = base::parse_toml(*content);
    if (!document) return fail(broken_settings(path, document.error()));
    return take(*document, "", path, kind);
  }

  Result<void> read(const base::Environment& environment) {
    for (std::size_t i = 0; i < std::size(k_rows); ++i) {
      std::string variable(k_rows[i].short_variable);
      if (variable.empty() || environment.value(variable).empty()) variable = variable_of(k_rows[i]);
      const auto value = environment.get(variable);
      if (!value || value->empty()) continue;
      std::vector<std::string> texts{std::string(*value)};
      if (k_rows[i].type == SettingType::list) texts = listed_in(*value);
      CUDAENV_CHECK(check_setting(k_rows[i], {variable, "unset " + variable}, texts));
      values[i] = {std::move(texts), variable};
    }
    return {};
  }

  std::vector<SettingValue> values;
  std::vector<std::string> warnings;

 private:
  Result<void> take(const Value& table, const std::string& prefix, const base::Path& path, FileKind kind) {
    const std::string file = base::escaped(path.native());
    for (const auto& [name, value] : *table.as_object()) {
      const std::string key = prefix + name;
      const SettingRow* row = find_setting(key);
      if (!row && value.as_object()) {
        CUDAENV_CHECK(take(value, key + ".", path, kind));
        continue;
      }
      if (!row) {
        warn_unknown(key, file);
        continue;
      }
      if (kind == FileKind::project && !row->is_for_projects) {
        warnings.push_back(fmt::format("{}: {} cannot be set by a project and is ignored", file, key));
        continue;
      }
      auto texts = texts_of(*row, value);
      const SettingPlace place = place_in(path, kind, *row);
      if (!texts) return bad_value(*row, place, "is " + described(value));
      CUDAENV_CHECK(check_setting(*row, place, *texts));
      SettingValue& present = values[static_cast<std::size_t>(row - k_rows)];
      // A project that was cloned must not open the gate.
      if (kind == FileKind::project && row->is_protective && is_looser(*row, texts->front(), present.values.front())) {
        warnings.push_back(fmt::format("{}: {} = \"{}\" is ignored: a project can make the gate stricter, not looser",
                                       file, key, texts->front()));
        continue;
      }
      present = {std::move(*texts), path.native()};
    }
    return {};
  }

  void warn_unknown(const std::string& key, const std::string& file) {
    const std::vector<std::string> near = similar_settings(key);
    warnings.push_back(fmt::format("{}: there is no setting {}{}", file, base::escaped(key),
                                   near.empty() ? "" : ", did you mean " + base::join(near, " or ") + "?"));
  }
};

}  // namespace

std::string set_command(const SettingRow& row) {
  if (row.fallback.empty()) return fmt::format("cudaenv config unset {}", row.key);
  return fmt::format("cudaenv config set {} {}", row.key, row.words.empty() ? row.fallback : row.words.front());
}

std::string edit_command(const base::Path& file) {
  return fmt::format("${{EDITOR:-vi}} {}", base::escaped(file.native()));
}

Error broken_settings(const base::Path& file, const Error& error) {
  return Error{ErrorKind::config, base::escaped(fmt::format("{}: {}", file.native(), error.message)),
               edit_command(file)};
}

Result<void> check_setting(const SettingRow& row, const SettingPlace& place, const std::vector<std::string>& values) {
  if (row.type == SettingType::list) return {};
  if (values.size() != 1) return not_allowed(row, place, base::join(values, " "));
  const std::string& value = values.front();
  if (row.type == SettingType::integer) {
    const auto number = number_of(value);
    if (!number || *number < row.least || *number > row.most) return not_allowed(row, place, value);
    return {};
  }
  const bool is_allowed =
      row.type == SettingType::boolean
          ? value == "true" || value == "false"
          : row.words.empty() || std::find(row.words.begin(), row.words.end(), value) != row.words.end();
  if (!is_allowed) return not_allowed(row, place, value);
  return {};
}

std::span<const SettingRow> setting_rows() { return k_rows; }

const SettingRow* find_setting(std::string_view key) {
  for (const SettingRow& row : k_rows)
    if (row.key == key) return &row;
  return nullptr;
}

Result<const SettingRow*> require_setting(std::string_view key) {
  if (const SettingRow* row = find_setting(key)) return row;
  const std::vector<std::string> near = similar_settings(key);
  return fail(ErrorKind::config, fmt::format("there is no setting \"{}\"", base::escaped(key)),
              near.empty() ? "cudaenv config list" : "cudaenv config get " + near.front());
}

std::string variable_of(const SettingRow& row) {
  std::string name = "CUDAENV_";
  for (const char c : row.key) name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

const SettingValue& Settings::operator[](std::string_view key) const {
  return m_values[static_cast<std::size_t>(find_setting(key) - k_rows)];
}

std::int64_t Settings::number(std::string_view key) const { return number_of(word(key)).value_or(0); }

core::LibraryPath Settings::library_path() const {
  const std::string& value = word("env.library_path");
  if (value == "toolkit") return core::LibraryPath::toolkit;
  return value == "none" ? core::LibraryPath::none : core::LibraryPath::shims;
}

GateMode Settings::gate_mode() const {
  const std::string& value = word("gate.mode");
  if (value == "off") return GateMode::off;
  return value == "warn" ? GateMode::warn : GateMode::on;
}

Result<Settings> load_settings(const Roots& roots, const base::Environment& environment,
                               const std::optional<base::Path>& project) {
  Loader loader;
  // A site's settings, then the user's own.
  if (roots.shared && !is_forbidden(roots.shared->settings_file()))
    CUDAENV_CHECK(loader.read(roots.shared->settings_file(), FileKind::shared));
  CUDAENV_CHECK(loader.read(roots.own.settings_file(), FileKind::own));
  if (project) CUDAENV_CHECK(loader.read(*project / ".cudaenv.toml", FileKind::project));
  CUDAENV_CHECK(loader.read(environment));
  Settings settings;
  settings.m_values = std::move(loader.values);
  settings.m_warnings = std::move(loader.warnings);
  return settings;
}

}  // namespace cudaenv::store
