// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <algorithm>

#include <unistd.h>

namespace cudaenv::base {

Environment Environment::of_process() {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = text.substr(0, equals);
    if (!environment.get(name)) environment.m_variables.emplace_back(name, text.substr(equals + 1));
  }
  return environment;
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  for (const auto& [key, value] : m_variables)
    if (key == name) return value;
  return std::nullopt;
}

void Environment::set(std::string_view name, std::string value) {
  for (auto& [key, current] : m_variables) {
    if (key != name) continue;
    current = std::move(value);
    return;
  }
  m_variables.emplace_back(name, std::move(value));
}

void Environment::unset(std::string_view name) {
  std::erase_if(m_variables, [&](const auto& variable) { return variable.first == name; });
}

std::vector<std::string> Environment::strings() const {
  std::vector<std::string> strings;
  strings.reserve(m_variables.size());
  for (const auto& [name, value] : m_variables) strings.push_back(name + "=" + value);
  return strings;
}

}  // namespace cudaenv::base
