// SPDX-License-Identifier: Apache-2.0
#include "redist/index_page.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "redist/location.hpp"

// No server writes its listing like another, but all of them write <a href=...>. So this reads tags and nothing
// else: what stands between them, and whether they nest, does not matter.

namespace cudaenv::redist {
namespace {

constexpr std::string_view k_blanks = " \t\r\n\f";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view take_until(std::string_view& text, std::string_view stops) {
  const std::string_view part = text.substr(0, std::min(text.find_first_of(stops), text.size()));
  text.remove_prefix(part.size());
  return part;
}

void skip(std::string_view& text, std::string_view bytes) {
  text.remove_prefix(std::min(text.find_first_not_of(bytes), text.size()));
}

// The next attribute of a tag, its value as it is written; nothing at the end of the tag, which is taken too.
std::optional<std::pair<std::string_view, std::string_view>> next_attribute(std::string_view& text) {
  skip(text, " \t\r\n\f/");
  if (text.empty()) return std::nullopt;
  if (text.front() == '>') {
    text.remove_prefix(1);
    return std::nullopt;
  }
  const std::string_view first = text.substr(0, 1);
  std::string_view name = take_until(text, " \t\r\n\f/>=");
  if (name.empty()) {  // a stray "=": step over it
    name = first;
    text.remove_prefix(1);
  }
  skip(text, k_blanks);
  if (!text.starts_with('=')) return std::pair(name, std::string_view());
  text.remove_prefix(1);
  skip(text, k_blanks);
  if (!text.starts_with('"') && !text.starts_with('\'')) return std::pair(name, take_until(text, " \t\r\n\f>"));
  const std::string_view quote = text.substr(0, 1);
  text.remove_prefix(1);
  const std::string_view value = take_until(text, quote);
  text.remove_prefix(std::min<std::size_t>(1, text.size()));
  return std::pair(name, value);
}

// The few that a file name needs.
std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 6> k_entities = {
      {{"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''}, {"&lt;", '<'}, {"&gt;", '>'}}};
  std::string out;
  while (!text.empty()) {
    const auto* entity = std::find_if(k_entities.begin(), k_entities.end(),
                                      [&](const auto& candidate) { return text.starts_with(candidate.first); });
    out += entity == k_entities.end() ? text.front() : entity->second;
    text.remove_prefix(entity == k_entities.end() ? 1 : entity->first.size());
  }
  return out;
}

// What an address names; empty for nothing of use.
std::string name_in(std::string_view written) {
  const std::string address = without_entities(base::trimmed(written));
  std::string_view path = std::string_view(address).substr(0, address.find_first_of("?#"));
  const std::size_t colon = path.find(':');
  if (colon != path.npos && path.find('/') > colon) {
    const std::string_view scheme = path.substr(0, colon);
    if (!equal_letters(scheme, "https") && !equal_letters(scheme, "http")) return {};
    path.remove_prefix(colon + 1);
  }
  if (path.starts_with("//")) {  // a host, which is no name
    path.remove_prefix(2);
    path.remove_prefix(std::min(path.find('/'), path.size()));
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::optional<std::string> name = percent_decoded(path.substr(path.rfind('/') + 1));
  if (!name || *name == "." || *name == ".." || name->find('/') != name->npos) return {};
  const bool is_plain = std::none_of(name->begin(), name->end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return is_plain ? *name : std::string();
}

}  // namespace

std::vector<std::string> linked_names(std::string_view html) {
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  while (true) {
    html.remove_prefix(std::min(html.find('<'), html.size()));
    if (html.empty()) return names;
    if (html.starts_with("<!--")) {
      const std::size_t end = html.find("-->");
      html.remove_prefix(std::min(end, html.size()));
      continue;
    }
    html.remove_prefix(1);
    const bool is_link = equal_letters(take_until(html, " \t\r\n\f/>"), "a");
    if (!is_link) continue;
    while (const auto attribute = next_attribute(html)) {
      if (!equal_letters(attribute->first, "href")) continue;
      std::string name = name_in(attribute->second);
      if (!name.empty() && known.insert(name).second) names.push_back(std::move(name));
    }
  }
}

}  // namespace cudaenv::redist
