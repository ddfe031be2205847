// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudaenv::base {
namespace {

constexpr std::size_t k_deepest_nesting = 64;
constexpr std::size_t k_most_members = 10'000;  // of one object; each name is looked for among those before it

// Builds the tree event by event, which is what lets it see a repeated name and stop at a depth.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(Value()); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool number_integer(number_integer_t value) override { return add(Value(static_cast<std::int64_t>(value))); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return stop("a number that is too large");
    return add(Value(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Value(value)); }
  bool string(string_t& value) override { return add(Value(std::move(value))); }
  bool binary(binary_t&) override { return stop("binary data"); }
  bool start_object(std::size_t) override { return open(Value(Value::Object())); }
  bool start_array(std::size_t) override { return open(Value(Value::Array())); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (m_open.back().first.as_object()->size() == k_most_members) return stop("an object of too many members");
    if (m_open.back().first.find(name)) return stop(fmt::format("the name \"{}\" twice", name));
    m_open.back().second = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return stop(fmt::format("not JSON at byte {}", position));
  }

  Value take_root() { return std::move(m_root); }
  const std::string& problem() const { return m_problem; }

 private:
  bool stop(std::string problem) {
    m_problem = std::move(problem);
    return false;
  }

  bool open(Value container) {
    if (m_open.size() >= k_deepest_nesting) return stop("nesting that is too deep");
    m_open.emplace_back(std::move(container), std::string());
    return true;
  }

  bool close() {
    Value done = std::move(m_open.back().first);
    m_open.pop_back();
    return add(std::move(done));
  }

  bool add(Value value) {
    if (m_open.empty()) {
      m_root = std::move(value);
      return true;
    }
    auto& [container, name] = m_open.back();
    if (Value::Array* array = container.as_array())
      array->push_back(std::move(value));
    else
      container.as_object()->emplace_back(std::move(name), std::move(value));
    return true;
  }

  Value m_root;
  std::string m_problem;
  std::vector<std::pair<Value, std::string>>
      m_open;  // containers under construction, with the name that waits for a value
};

nlohmann::ordered_json to_library(const Value& value) {
  if (const bool* boolean = value.as_bool()) return *boolean;
  if (const std::int64_t* integer = value.as_integer()) return *integer;
  if (const double* number = value.as_double()) return *number;
  if (const std::string* string = value.as_string()) return *string;
  if (const Value::Array* array = value.as_array()) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Value& element : *array) out.push_back(to_library(element));
    return out;
  }
  if (const Value::Object* object = value.as_object()) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [name, member] : *object) out[name] = to_library(member);
    return out;
  }
  return nullptr;
}

}  // namespace

Result<Value> parse_json(std::string_view text) {
  // The library takes a NUL byte for the end, whatever follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return fail(ErrorKind::config, fmt::format("not JSON at byte {}", nul + 1));
  TreeBuilder builder;
  const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (!whole) return fail(ErrorKind::config, builder.problem());
  return builder.take_root();
}

std::string to_json(const Value& value) {
  return to_library(value).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cudaenv::base
