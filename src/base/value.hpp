// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudaenv::base {

// A JSON or TOML document as a tree: the one shape in which manifests, receipts, settings and registry
// files reach the code that understands them. Members keep their order; a name occurs once.
class Value {
 public:
  using Array = std::vector<Value>;
  using Member = std::pair<std::string, Value>;
  using Object = std::vector<Member>;

  Value() = default;
  Value(bool value) : m_data(value) {}
  Value(std::int64_t value) : m_data(value) {}
  Value(int value) : m_data(static_cast<std::int64_t>(value)) {}
  Value(std::uint64_t value) : m_data(static_cast<std::int64_t>(value)) {}
  Value(double value) : m_data(value) {}
  Value(std::string value) : m_data(std::move(value)) {}
  Value(std::string_view value) : m_data(std::string(value)) {}
  Value(const char* value) : m_data(std::string(value)) {}
  Value(Array value) : m_data(std::move(value)) {}
  Value(Object value) : m_data(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(m_data); }

  // Each returns nullptr when the value is of another kind.
  const bool* as_bool() const { return std::get_if<bool>(&m_data); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&m_data); }
  const double* as_double() const { return std::get_if<double>(&m_data); }
  const std::string* as_string() const { return std::get_if<std::string>(&m_data); }
  const Array* as_array() const { return std::get_if<Array>(&m_data); }
  const Object* as_object() const { return std::get_if<Object>(&m_data); }
  Array* as_array() { return std::get_if<Array>(&m_data); }
  Object* as_object() { return std::get_if<Object>(&m_data); }

  // The member of that name; nullptr when there is none or this is no object.
  const Value* find(std::string_view name) const {
    if (const Object* object = as_object())
      for (const Member& member : *object)
        if (member.first == name) return &member.second;
    return nullptr;
  }

  // The text of a string member; empty when it is absent or of another kind.
  std::string_view text(std::string_view name) const {
    const Value* member = find(name);
    const std::string* string = member ? member->as_string() : nullptr;
    return string ? std::string_view(*string) : std::string_view();
  }

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> m_data;
};

}  // namespace cudaenv::base
