// SPDX-License-Identifier: Apache-2.0
#include "store/receipt.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "core/selection_types.hpp"
#include "core/version_text.hpp"
#include "store/receipt_check.hpp"

namespace cudaenv::store {
namespace {

using base::Value;

constexpr std::int64_t k_schema = 1;

Value texts(const std::vector<std::string>& list) {
  Value::Array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

std::vector<std::string> texts_of(const Value* value) {
  std::vector<std::string> list;
  const Value::Array* array = value ? value->as_array() : nullptr;
  if (array)
    for (const Value& element : *array)
      if (const std::string* text = element.as_string()) list.push_back(*text);
  return list;
}

std::uint64_t size_in(const Value& value, std::string_view name) {
  const Value* member = value.find(name);
  const std::int64_t* number = member ? member->as_integer() : nullptr;
  return number && *number >= 0 ? static_cast<std::uint64_t>(*number) : 0;
}

Value to_value(const ReceiptComponent& component) {
  Value::Object object{{"name", component.name},
                       {"version", component.version},
                       {"license", component.license},
                       {"license_sha256", component.license_sha256},
                       {"archive", component.archive},
                       {"archive_sha256", component.archive_sha256},
                       {"archive_size", component.archive_size}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) object.emplace_back(name, text);
  };
  add("human_name", component.human_name);
  add("product", component.product);
  add("product_version", component.product_version);
  add("product_manifest_sha256", component.product_manifest_sha256);
  add("product_source", component.product_source);
  add("lib_directory", component.lib_directory);
  return object;
}

Value to_value(const ReceiptFile& file) {
  Value::Object object{{"path", file.path}};
  if (!file.component.empty()) object.emplace_back("component", file.component);
  if (!file.also_of.empty()) object.emplace_back("also_of", texts(file.also_of));
  if (!file.target.empty()) {
    object.emplace_back("target", file.target);
    return object;
  }
  object.emplace_back("mode", fmt::format("{:04o}", file.mode));
  object.emplace_back("size", file.size);
  object.emplace_back("sha256", file.sha256);
  return object;
}

ReceiptComponent component_of(const Value& value) {
  ReceiptComponent component;
  component.name = value.text("name");
  component.version = value.text("version");
  component.license = value.text("license");
  component.license_sha256 = value.text("license_sha256");
  component.archive = value.text("archive");
  component.archive_sha256 = value.text("archive_sha256");
  component.archive_size = size_in(value, "archive_size");
  component.human_name = value.text("human_name");
  component.product = value.text("product");
  component.product_version = value.text("product_version");
  component.product_manifest_sha256 = value.text("product_manifest_sha256");
  component.product_source = value.text("product_source");
  component.lib_directory = value.text("lib_directory");
  return component;
}

ReceiptFile file_of(const Value& value) {
  ReceiptFile file;
  file.path = value.text("path");
  file.component = value.text("component");
  file.also_of = texts_of(value.find("also_of"));
  file.target = value.text("target");
  file.sha256 = value.text("sha256");
  file.size = size_in(value, "size");
  const std::string_view mode = value.text("mode");
  std::from_chars(mode.data(), mode.data() + mode.size(), file.mode, 8);
  return file;
}

template <class F>
void for_each(const Value& document, std::string_view name, F f) {
  const Value* member = document.find(name);
  const Value::Array* array = member ? member->as_array() : nullptr;
  if (!array) return;
  for (const Value& element : *array) f(element);
}

}  // namespace

bool Receipt::has_component(std::string_view name) const {
  return std::any_of(components.begin(), components.end(),
                     [&](const auto& component) { return component.name == name; });
}

const ReceiptComponent* Receipt::find_product(std::string_view name) const {
  const auto found = std::find_if(components.begin(), components.end(),
                                  [&](const auto& component) { return component.product == name; });
  return name.empty() || found == components.end() ? nullptr : &*found;
}

std::string to_json(const Receipt& receipt) {
  Value::Array components;
  for (const ReceiptComponent& component : receipt.components) components.push_back(to_value(component));
  Value::Array files;
  for (const ReceiptFile& file : receipt.files) files.push_back(to_value(file));
  return base::to_json(Value::Object{{"schema", k_schema},
                                     {"release", core::to_text(receipt.release)},
                                     {"platform", receipt.platform},
                                     {"profile", receipt.profile},
                                     {"with", texts(receipt.with)},
                                     {"without", texts(receipt.without)},
                                     {"source", receipt.source},
                                     {"manifest_sha256", receipt.manifest_sha256},
                                     {"installed", receipt.installed},
                                     {"layout", receipt.layout},
                                     {"components", std::move(components)},
                                     {"files", std::move(files)}});
}

Result<Receipt> parse_receipt(std::string_view text, std::string_view name) {
  auto document = base::parse_json(text);
  const Value* schema = document ? document->find("schema") : nullptr;
  const auto release = document ? core::parse_version(document->text("release")) : std::nullopt;
  if (!schema || !schema->as_integer() || *schema->as_integer() != k_schema || !release)
    return fail(ErrorKind::integrity,
                fmt::format("{} is not a receipt that this cudaenv can read", base::escaped(name)));
  Receipt receipt;
  receipt.release = *release;
  receipt.platform = document->text("platform");
  receipt.profile = document->text("profile");
  receipt.with = texts_of(document->find("with"));
  receipt.without = texts_of(document->find("without"));
  receipt.source = document->text("source");
  receipt.manifest_sha256 = document->text("manifest_sha256");
  receipt.installed = document->text("installed");
  const std::uint64_t layout = size_in(*document, "layout");
  if (std::in_range<int>(layout)) receipt.layout = static_cast<int>(layout);
  for_each(*document, "components", [&](const Value& value) { receipt.components.push_back(component_of(value)); });
  for_each(*document, "files", [&](const Value& value) { receipt.files.push_back(file_of(value)); });
  if (const auto fault = fault_in(receipt))
    return fail(ErrorKind::integrity, fmt::format("{} is not usable: {}", base::escaped(name), *fault));
  return receipt;
}

Result<Receipt> read_receipt(const base::Path& toolkit) {
  const base::Path path = toolkit / core::k_receipt_name;
  CUDAENV_TRY(content, base::read_file(path));
  if (!content) return fail(ErrorKind::not_found, fmt::format("{} has no receipt", base::escaped(toolkit.native())));
  auto receipt = parse_receipt(*content, path.native());
  const std::string name = toolkit.filename();
  if (!receipt && core::parse_version(name)) receipt.error().hint = fmt::format("cudaenv install {} --force", name);
  return receipt;
}

}  // namespace cudaenv::store
