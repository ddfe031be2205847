// SPDX-License-Identifier: Apache-2.0
#include "store/settings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml.hpp"

namespace cudaenv::store {
namespace {

using base::Value;

constexpr std::array<std::string_view, 3> k_library_path_words = {"none", "shims", "toolkit"};

constexpr SettingRow k_rows[] = {
    {"env.compiler_paths",
     SettingType::boolean,
     "false",
     {},
     true,
     "put the toolkit's include and lib on CPATH and LIBRARY_PATH"},
    {"env.library_path", SettingType::word, "shims", k_library_path_words, true,
     "what comes first on LD_LIBRARY_PATH: the library shims, the toolkit's lib, or nothing"},
    {"mirror",
     SettingType::list,
     "",
     {},
     false,
     "base URLs or directories that releases are fetched from, tried in order"},
    {"network.allow_http", SettingType::boolean, "false", {}, false, "fetch over plain http from other machines too"},
};
static_assert(std::is_sorted(std::begin(k_rows), std::end(k_rows),
                             [](const SettingRow& a, const SettingRow& b) { return a.key < b.key; }));

std::string expected(const SettingRow& row) {
  switch (row.type) {
    case SettingType::boolean: return "true or false";
    case SettingType::list: return "text, or a list of texts";
    case SettingType::word: break;
  }
  return row.words.empty() ? "text" : fmt::format("one of {}", fmt::join(row.words, ", "));
}

tl::unexpected<Error> bad_value(const SettingRow& row, std::string_view where, std::string_view found) {
  return fail(ErrorKind::config, fmt::format("{}: {} cannot be \"{}\"", where, row.key, base::escaped(found)),
              fmt::format("cudaenv config set {} {}", row.key, row.words.empty() ? row.fallback : row.words.front()),
              {fmt::format("expected {}", expected(row))});
}

std::optional<std::vector<std::string>> texts_of(const SettingRow& row, const Value& value) {
  if (const bool* boolean = value.as_bool())
    return row.type == SettingType::boolean ? std::optional(std::vector<std::string>{*boolean ? "true" : "false"})
                                            : std::nullopt;
  if (const std::string* text = value.as_string())
    return row.type != SettingType::boolean ? std::optional(std::vector<std::string>{*text}) : std::nullopt;
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

enum class FileKind { root, project };

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
    if (!document)
      return fail(ErrorKind::config, fmt::format("{}: {}", base::escaped(path.native()), document.error().message));
    return take(*document, "", path, kind);
  }

  Result<void> read(const base::Environment& environment) {
    for (std::size_t i = 0; i < std::size(k_rows); ++i) {
      const std::string variable = variable_of(k_rows[i]);
      const auto value = environment.get(variable);
      if (!value || value->empty()) continue;
      std::vector<std::string> texts{std::string(*value)};
      if (k_rows[i].type == SettingType::list) {
        texts.clear();
        for (const std::string_view part : base::split(*value, ' '))
          if (!part.empty()) texts.emplace_back(part);
      }
      CUDAENV_CHECK(check_setting(k_rows[i], variable, texts));
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
      if (value.as_object()) {
        CUDAENV_CHECK(take(value, key + ".", path, kind));
        continue;
      }
      const SettingRow* row = find_setting(key);
      if (!row) {
        warn_unknown(key, file);
        continue;
      }
      if (kind == FileKind::project && !row->is_for_projects) {
        warnings.push_back(fmt::format("{}: {} cannot be set by a project and is ignored", file, key));
        continue;
      }
      auto texts = texts_of(*row, value);
      if (!texts) return bad_value(*row, file, "a value of another type");
      CUDAENV_CHECK(check_setting(*row, file, *texts));
      values[static_cast<std::size_t>(row - k_rows)] = {std::move(*texts), path.native()};
    }
    return {};
  }

  void warn_unknown(const std::string& key, const std::string& file) {
    std::vector<std::string_view> keys;
    for (const SettingRow& row : k_rows) keys.push_back(row.key);
    const std::vector<std::string> near = base::did_you_mean(key, keys);
    warnings.push_back(fmt::format("{}: there is no setting {}{}", file, base::escaped(key),
                                   near.empty() ? "" : ", did you mean " + base::join(near, " or ") + "?"));
  }
};

}  // namespace

Result<void> check_setting(const SettingRow& row, std::string_view where, const std::vector<std::string>& values) {
  if (row.type == SettingType::list) return {};
  if (values.size() != 1) return bad_value(row, where, base::join(values, " "));
  const std::string& value = values.front();
  const bool is_allowed =
      row.type == SettingType::boolean
          ? value == "true" || value == "false"
          : row.words.empty() || std::find(row.words.begin(), row.words.end(), value) != row.words.end();
  if (!is_allowed) return bad_value(row, where, value);
  return {};
}

std::span<const SettingRow> setting_rows() { return k_rows; }

const SettingRow* find_setting(std::string_view key) {
  for (const SettingRow& row : k_rows)
    if (row.key == key) return &row;
  return nullptr;
}

std::string variable_of(const SettingRow& row) {
  std::string name = "CUDAENV_";
  for (const char c : row.key) name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

const SettingValue& Settings::operator[](std::string_view key) const {
  return m_values[static_cast<std::size_t>(find_setting(key) - k_rows)];
}

core::LibraryPath Settings::library_path() const {
  const std::string& value = word("env.library_path");
  if (value == "toolkit") return core::LibraryPath::toolkit;
  return value == "none" ? core::LibraryPath::none : core::LibraryPath::shims;
}

Result<Settings> load_settings(const Roots& roots, const base::Environment& environment,
                               const std::optional<base::Path>& project) {
  Loader loader;
  // A site's settings, then the user's own.
  if (roots.shared) CUDAENV_CHECK(loader.read(roots.shared->settings_file(), FileKind::root));
  CUDAENV_CHECK(loader.read(roots.own.settings_file(), FileKind::root));
  if (project) CUDAENV_CHECK(loader.read(*project / ".cudaenv.toml", FileKind::project));
  CUDAENV_CHECK(loader.read(environment));
  Settings settings;
  settings.m_values = std::move(loader.values);
  settings.m_warnings = std::move(loader.warnings);
  return settings;
}

}  // namespace cudaenv::store
