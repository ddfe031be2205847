// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::base {

// The variables of a process as a value. Order is kept; unset, empty and set are three different things.
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::vector<std::pair<std::string, std::string>> variables)
      : m_variables(std::move(variables)) {}

  // A copy of this process's variables.
  static Environment of_process();

  std::optional<std::string_view> get(std::string_view name) const;

  // The value, or "" if it is unset.
  std::string_view value(std::string_view name) const { return get(name).value_or(std::string_view()); }

  void set(std::string_view name, std::string value);
  void unset(std::string_view name);

  const std::vector<std::pair<std::string, std::string>>& variables() const { return m_variables; }

  // "NAME=value" strings for execve.
  std::vector<std::string> strings() const;

 private:
  std::vector<std::pair<std::string, std::string>> m_variables;
};

}  // namespace cudaenv::base
