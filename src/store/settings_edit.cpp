// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml.hpp"
#include "store/settings.hpp"

// config.toml belongs to the person who wrote it, so a change replaces a value, or adds or removes the lines of a key,
// and leaves the rest, comments and order included. The result is parsed and compared before it replaces the file: a
// form of TOML that this line-wise view does not understand (a key inside an inline table, say) ends in an error, never
// in a broken or an unchanged file.

namespace cudaenv::store {
namespace {

struct Place {
  std::string section;  // "" for the top level
  std::string name;
};

Place place_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string rendered(const SettingRow& row, const std::vector<std::string>& values) {
  if (row.type == SettingType::boolean || row.type == SettingType::integer) return values.front();
  if (values.size() == 1) return toml_string(values.front());
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(toml_string(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

// The lines of the file, with a place in it.
class Document {
 public:
  explicit Document(std::string_view text) {
    for (const std::string_view line : base::split(text, '\n')) m_lines.emplace_back(line);
    if (m_lines.back().empty()) m_lines.pop_back();
  }

  // Whether the key was there.
  bool remove(const Place& place) {
    const std::size_t at = find(place);
    if (at == m_lines.size()) return false;
    m_lines.erase(line_at(at), line_at(end_of_value(at, m_lines[at].find('=') + 1).line + 1));
    return true;
  }

  void set(const Place& place, const std::string& value) {
    if (const std::size_t at = find(place); at != m_lines.size()) {
      replace_value(at, value);
      return;
    }
    const std::string line = place.name + " = " + value;
    const std::size_t end = end_of(place.section);
    if (end != npos) {
      m_lines.insert(line_at(end), line);
      return;
    }
    if (!m_lines.empty()) m_lines.emplace_back();
    m_lines.push_back("[" + place.section + "]");
    m_lines.push_back(line);
  }

  std::string text() const { return m_lines.empty() ? "" : base::join(m_lines, "\n") + "\n"; }

 private:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  struct Spot {
    std::size_t line;
    std::size_t column;
  };

  std::vector<std::string>::iterator line_at(std::size_t number) {
    return m_lines.begin() + static_cast<std::ptrdiff_t>(number);
  }

  // What stands before the value, and a comment after it, stay.
  void replace_value(std::size_t at, const std::string& value) {
    const std::size_t equals = m_lines[at].find('=');
    const Spot end = end_of_value(at, equals + 1);
    m_lines[at] = m_lines[at].substr(0, equals + 1) + " " + value + m_lines[end.line].substr(end.column);
    m_lines.erase(line_at(at + 1), line_at(end.line + 1));
  }

  // Just behind the value that starts there. Lists and long strings run over several lines.
  Spot end_of_value(std::size_t line, std::size_t column) const {
    Spot end{line, column};
    int depth = 0;
    std::string_view quote;  // what closes the string that the scan is in
    for (; line < m_lines.size(); ++line, column = 0) {
      const std::string_view text = m_lines[line];
      while (column < text.size()) {
        const std::string_view rest = text.substr(column);
        if (quote.empty() && rest.front() == '#') break;
        const std::size_t step = std::min(step_over(rest, quote, depth), rest.size());
        column += step;
        if (!quote.empty() || !base::trimmed(rest.substr(0, step)).empty()) end = {line, column};
      }
      if (depth <= 0 && quote.size() != 3) break;
    }
    return end;
  }

  // Length of the next piece of a value; keeps account of strings and brackets.
  static std::size_t step_over(std::string_view rest, std::string_view& quote, int& depth) {
    const char c = rest.front();
    if (!quote.empty()) {
      if (c == '\\' && quote.front() == '"') return 2;
      if (!rest.starts_with(quote)) return 1;
      const std::size_t size = quote.size();
      quote = {};
      return size;
    }
    if (c == '"' || c == '\'') {
      const bool is_long = rest.size() >= 3 && rest[1] == c && rest[2] == c;
      quote = rest.substr(0, is_long ? 3 : 1);
      return quote.size();
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    return 1;
  }

  static std::string_view section_in(std::string_view line) {
    line = base::trimmed(line);
    if (!line.starts_with('[') || line.starts_with("[[")) return {};
    return base::trimmed(line.substr(1, line.find(']') - 1));
  }

  // Line number of the key; the number of lines if it is not there.
  std::size_t find(const Place& place) const {
    std::string section;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
      if (const std::string_view header = section_in(m_lines[i]); !header.empty()) section = header;
      const std::size_t equals = m_lines[i].find('=');
      if (equals == std::string::npos) continue;
      const std::string_view name = base::trimmed(std::string_view(m_lines[i]).substr(0, equals));
      const bool is_here = section == place.section && name == place.name;
      const bool is_dotted = section.empty() && !place.section.empty() && name == place.section + "." + place.name;
      if (is_here || is_dotted) return i;
    }
    return m_lines.size();
  }

  // Where a new key of the section goes: after its last line that is not blank. npos: no such section.
  std::size_t end_of(const std::string& section) const {
    std::size_t end = section.empty() ? 0 : npos;
    std::string current;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
      if (const std::string_view header = section_in(m_lines[i]); !header.empty()) current = header;
      if (current == section && !base::trimmed(m_lines[i]).empty()) end = i + 1;
    }
    return end;
  }

  std::vector<std::string> m_lines;
};

// The value of the key in a parsed file, as texts; nothing if it has none.
std::optional<std::vector<std::string>> texts_at(const base::Value& file, const Place& place) {
  const base::Value* table = place.section.empty() ? &file : file.find(place.section);
  const base::Value* value = table ? table->find(place.name) : nullptr;
  if (!value) return std::nullopt;
  if (const bool* boolean = value->as_bool()) return std::vector<std::string>{*boolean ? "true" : "false"};
  if (const std::int64_t* number = value->as_integer()) return std::vector<std::string>{std::to_string(*number)};
  std::vector<std::string> texts;
  if (const std::string* text = value->as_string()) texts.push_back(*text);
  if (const base::Value::Array* array = value->as_array())
    for (const base::Value& element : *array) texts.push_back(element.as_string() ? *element.as_string() : "");
  return texts;
}

// Whether all settings but one have the same values in both.
bool has_kept_others(const base::Value& before, const base::Value& after, const Place& changed) {
  const auto rows = setting_rows();
  return std::all_of(rows.begin(), rows.end(), [&](const SettingRow& row) {
    const Place other = place_of(row.key);
    return (other.section == changed.section && other.name == changed.name) ||
           texts_at(before, other) == texts_at(after, other);
  });
}

// Reads the file, lets `change` edit it, checks that the key then has the value `wanted`, and writes it.
template <class F>
Result<void> edit(const Roots& roots, const Place& place, const std::optional<std::vector<std::string>>& wanted,
                  F change) {
  const base::Path path = roots.own.settings_file();
  CUDAENV_TRY(content, base::read_file(path, 1 << 20));
  const auto before = base::parse_toml(content.value_or(""));
  if (!before) return fail(broken_settings(path, before.error()));
  Document document(content.value_or(""));
  change(document);
  const std::string text = document.text();
  const auto after = base::parse_toml(text);
  if (!after || texts_at(*after, place) != wanted || !has_kept_others(*before, *after, place))
    return fail(ErrorKind::config,
                fmt::format("{} is written in a way that cannot be changed safely", base::escaped(path.native())),
                edit_command(path));
  if (text == content.value_or("")) return {};
  CUDAENV_CHECK(base::make_directories(roots.own.path));
  return base::write_file(path, text);
}

}  // namespace

Result<void> write_setting(const Roots& roots, std::string_view key, const std::vector<std::string>& values) {
  CUDAENV_TRY(row, require_setting(key));
  CUDAENV_CHECK(check_setting(*row, {"config set", set_command(*row)}, values));
  const Place place = place_of(key);
  return edit(roots, place, values, [&](Document& document) { document.set(place, rendered(*row, values)); });
}

Result<bool> remove_setting(const Roots& roots, std::string_view key) {
  CUDAENV_CHECK(require_setting(key));
  bool was_there = false;
  const Place place = place_of(key);
  CUDAENV_CHECK(edit(roots, place, std::nullopt, [&](Document& document) { was_there = document.remove(place); }));
  return was_there;
}

}  // namespace cudaenv::store
