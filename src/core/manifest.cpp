// SPDX-License-Identifier: Apache-2.0
#include "core/manifest.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"

// The form differs by product and year: a platform holds its archive directly or one for each CUDA variant, sizes are
// strings or numbers, labels are absent in old files. So a component is told from a scalar by its JSON type, and an
// archive by having a relative_path, never by a list of names.

namespace cudaenv::core {
namespace {

using base::Value;

constexpr std::string_view k_name_start = "redistrib_";
constexpr std::string_view k_name_end = ".json";

std::optional<std::uint64_t> size_of(const Value* size) {
  if (!size) return std::nullopt;
  std::uint64_t bytes = 0;
  if (const std::int64_t* number = size->as_integer()) {
    if (*number < 0) return std::nullopt;
    bytes = static_cast<std::uint64_t>(*number);
  } else if (const std::string* digits = size->as_string()) {
    const char* end = digits->data() + digits->size();
    const auto [stop, error] = std::from_chars(digits->data(), end, bytes);
    if (error != std::errc() || stop != end) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (bytes == 0 || bytes > k_largest_archive) return std::nullopt;
  return bytes;
}

tl::unexpected<Error> untrusted(std::string_view what, std::string_view where) {
  return fail(ErrorKind::integrity, fmt::format("the manifest is not usable: {} has {}", base::escaped(where), what));
}

Result<Archive> parse_archive(const Value& value, const std::string& where) {
  Archive archive;
  archive.relative_path = value.text("relative_path");
  archive.sha256 = value.text("sha256");
  if (!is_plain_relative_path(archive.relative_path))
    return untrusted(fmt::format("the path \"{}\"", base::escaped(archive.relative_path)), where);
  if (!is_sha256(archive.sha256)) return untrusted("no valid sha256", where);
  const auto size = size_of(value.find("size"));
  if (!size) return untrusted("no valid size", where);
  archive.size = *size;
  return archive;
}

// Nothing for an object that is no platform.
Result<std::optional<PlatformArchives>> parse_platform(const std::string& platform, const Value& value,
                                                       const std::string& where) {
  PlatformArchives archives{platform, {}};
  if (value.find("relative_path")) {
    CUDAENV_TRY(archive, parse_archive(value, where));
    archives.by_variant.emplace_back("", std::move(archive));
    return archives;
  }
  for (const auto& [variant, member] : *value.as_object()) {
    if (!member.as_object() || !member.find("relative_path")) continue;
    CUDAENV_TRY(archive, parse_archive(member, where + " " + variant));
    archives.by_variant.emplace_back(variant, std::move(archive));
  }
  if (archives.by_variant.empty()) return std::nullopt;
  return archives;
}

Result<Component> parse_component(const std::string& name, const Value& value) {
  Component component;
  component.name = name;
  component.human_name = value.text("name");
  component.license = value.text("license");
  component.license_path = value.text("license_path");
  component.version = value.text("version");
  for (const auto& [key, member] : *value.as_object()) {
    if (!member.as_object()) continue;
    CUDAENV_TRY(platform, parse_platform(key, member, name + " " + key));
    if (platform) component.platforms.push_back(std::move(*platform));
  }
  return component;
}

}  // namespace

const PlatformArchives* Component::archives_for(std::string_view platform) const {
  for (const PlatformArchives& archives : platforms)
    if (archives.platform == platform) return &archives;
  return nullptr;
}

const Component* Manifest::find(std::string_view name) const {
  for (const Component& component : components)
    if (component.name == name) return &component;
  return nullptr;
}

std::string manifest_name(const Version& release) { return manifest_name(to_text(release)); }

std::string manifest_name(std::string_view version) { return fmt::format("{}{}{}", k_name_start, version, k_name_end); }

std::optional<std::string_view> version_text_of_manifest_name(std::string_view name) {
  if (!name.starts_with(k_name_start) || !name.ends_with(k_name_end)) return std::nullopt;
  name.remove_prefix(k_name_start.size());
  name.remove_suffix(std::min(name.size(), k_name_end.size()));
  return name;
}

std::optional<Version> release_of_manifest_name(std::string_view name) {
  const auto text = version_text_of_manifest_name(name);
  return text ? parse_version(*text) : std::nullopt;
}

bool is_plain_relative_path(std::string_view text) {
  if (text.empty() || text.size() > 1024 || text.front() == '/' || text.back() == '/') return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f || c == '\\' || c == ':' || c == '?' || c == '#' || c == '%') return false;
  }
  for (const std::string_view part : base::split(text, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_component_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' && is_plain_relative_path(name) &&
         name.find('/') == std::string_view::npos;
}

Result<Manifest> parse_manifest(const Value& document) {
  const Value::Object* members = document.as_object();
  if (!members) return fail(ErrorKind::integrity, "the manifest is not usable: it is no JSON object");
  Manifest manifest;
  manifest.release_date = document.text("release_date");
  manifest.release_label = document.text("release_label");
  manifest.release_product = document.text("release_product");
  for (const auto& [name, member] : *members) {
    if (!member.as_object()) continue;
    if (!is_component_name(name)) return untrusted("a name that cannot be a component's", name);
    CUDAENV_TRY(component, parse_component(name, member));
    manifest.components.push_back(std::move(component));
  }
  if (manifest.components.empty())
    return fail(ErrorKind::integrity, "the manifest is not usable: it lists no components");
  std::sort(manifest.components.begin(), manifest.components.end(),
            [](const Component& a, const Component& b) { return a.name < b.name; });
  return manifest;
}

Result<void> check_label(const Manifest& manifest, std::string_view product, std::string_view version) {
  if (manifest.release_label.empty() || manifest.release_label == version) return {};
  return fail(ErrorKind::integrity, fmt::format("the manifest of {} {} says that it is that of {}", product, version,
                                                base::escaped(manifest.release_label)));
}

}  // namespace cudaenv::core
