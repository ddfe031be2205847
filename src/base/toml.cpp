// SPDX-License-Identifier: Apache-2.0
#include "base/toml.hpp"

#include <sstream>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace cudaenv::base {
namespace {

template <class Date>
std::string printed(const Date& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Value to_value(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Value::Object object;
    for (const auto& [name, member] : *table) object.emplace_back(std::string(name.str()), to_value(member));
    return object;
  }
  if (const auto* array = node.as_array()) {
    Value::Array elements;
    for (const auto& element : *array) elements.push_back(to_value(element));
    return elements;
  }
  if (const auto* string = node.as_string()) return std::string(string->get());
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* date = node.as_date()) return printed(date->get());
  if (const auto* time = node.as_time()) return printed(time->get());
  if (const auto* moment = node.as_date_time()) return printed(moment->get());
  return {};
}

}  // namespace

Result<Value> parse_toml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    return fail(ErrorKind::config, fmt::format("line {}, column {}: {}", error.source().begin.line,
                                               error.source().begin.column, error.description()));
  }
  return to_value(parsed.table());
}

}  // namespace cudaenv::base
