// SPDX-License-Identifier: Apache-2.0
#include "core/lock.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/version_text.hpp"

namespace cudaenv::core {
namespace {

using base::Value;

constexpr std::int64_t k_format = 1;
constexpr std::string_view k_head =
    "# The archives that this project's CUDA toolkit is made of, bit for bit. To be committed, not to be edited:\n"
    "# `cudaenv lock` makes it anew, `cudaenv install --locked` installs just this.\n";

const std::string& name_of(const std::string& name) { return name; }
template <class T>
const std::string& name_of(const T& element) {
  return element.name;
}

constexpr auto k_by_name = [](const auto& a, const auto& b) { return name_of(a) < name_of(b); };

// In a list that is sorted.
template <class T>
const T* find_named(const std::vector<T>& elements, std::string_view name) {
  const auto at = std::lower_bound(elements.begin(), elements.end(), name,
                                   [](const T& element, std::string_view wanted) { return name_of(element) < wanted; });
  return at != elements.end() && name_of(*at) == name ? &*at : nullptr;
}

// --- Writing ---

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string quoted(const std::vector<std::string>& list) {
  std::vector<std::string> texts;
  for (const std::string& text : list) texts.push_back(quoted(text));
  return fmt::format("[{}]", base::join(texts, ", "));
}

std::string text_of(const std::vector<LockedPlatform>& platforms, std::string_view table) {
  std::string text;
  for (const LockedPlatform& platform : platforms) {
    text += fmt::format("\n[[{}]]\nname = {}\narchives = [\n", table, quoted(platform.name));
    for (const LockedArchive& locked : platform.archives)
      text += fmt::format("  {{ name = {}, version = {}, path = {}, size = {}, sha256 = {} }},\n", quoted(locked.name),
                          quoted(locked.version), quoted(locked.archive.relative_path), locked.archive.size,
                          quoted(locked.archive.sha256));
    text += "]\n";
  }
  return text;
}

// --- Reading ---

tl::unexpected<Error> unusable(std::string_view where, std::string_view what) {
  return fail(ErrorKind::config, fmt::format("{}{}{}", base::escaped(where), where.empty() ? "" : ": ", what));
}

// An error if the table has another member than these.
Result<void> check_members(const Value& table, std::string_view where, std::initializer_list<std::string_view> known) {
  if (!table.as_object()) return unusable(where, "is no table");
  for (const auto& [name, value] : *table.as_object())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return unusable(where, fmt::format("unknown key {}", base::escaped(name)));
  return {};
}

Result<std::string> text_in(const Value& table, std::string_view key, std::string_view where) {
  const Value* value = table.find(key);
  if (!value || !value->as_string()) return unusable(where, fmt::format("{} is no text", key));
  return *value->as_string();
}

Result<std::string> name_in(const Value& table, std::string_view where) {
  CUDAENV_TRY(name, text_in(table, "name", where));
  if (!is_component_name(name))
    return unusable(where, fmt::format("\"{}\" cannot be a name here", base::escaped(name)));
  return std::move(name);
}

Result<std::string> digest_in(const Value& table, std::string_view key, std::string_view where) {
  CUDAENV_TRY(digest, text_in(table, key, where));
  if (!is_sha256(digest)) return unusable(where, fmt::format("{} is not 64 lower-case hex digits", key));
  return std::move(digest);
}

// The elements of an array, read by `read`, sorted by name; a name that occurs twice is an error. An array that is
// absent is empty.
template <class T, class Read>
Result<std::vector<T>> list_in(const Value& table, std::string_view key, std::string_view where, Read read) {
  std::vector<T> list;
  const Value* value = table.find(key);
  if (!value) return list;
  if (!value->as_array()) return unusable(where, fmt::format("{} is no array", key));
  for (const Value& element : *value->as_array()) {
    CUDAENV_TRY(parsed, read(element));
    list.push_back(std::move(parsed));
  }
  std::sort(list.begin(), list.end(), k_by_name);
  const auto is_same = [](const T& a, const T& b) { return name_of(a) == name_of(b); };
  if (const auto twice = std::adjacent_find(list.begin(), list.end(), is_same); twice != list.end())
    return unusable(where, fmt::format("{} is there twice", base::escaped(name_of(*twice))));
  return list;
}

Result<std::vector<std::string>> names_in(const Value& table, std::string_view key) {
  return list_in<std::string>(table, key, "", [&](const Value& element) -> Result<std::string> {
    const std::string* name = element.as_string();
    if (!name || !is_component_name(*name)) return unusable("", fmt::format("{} holds no name of a component", key));
    return *name;
  });
}

Result<LockedArchive> parse_archive(const Value& table, const std::string& platform) {
  CUDAENV_CHECK(check_members(table, platform, {"name", "version", "path", "size", "sha256"}));
  CUDAENV_TRY(name, name_in(table, platform));
  const std::string where = fmt::format("{}, {}", platform, name);
  CUDAENV_TRY(version, text_in(table, "version", where));
  CUDAENV_TRY(path, text_in(table, "path", where));
  CUDAENV_TRY(digest, digest_in(table, "sha256", where));
  if (!is_plain_relative_path(path))
    return unusable(where, fmt::format("the path \"{}\" is not below a mirror", base::escaped(path)));
  const Value* size = table.find("size");
  const std::int64_t* bytes = size ? size->as_integer() : nullptr;
  if (!bytes || *bytes <= 0 || static_cast<std::uint64_t>(*bytes) > k_largest_archive)
    return unusable(where, "size is no size of an archive");
  return LockedArchive{
      std::move(name), std::move(version), {std::move(path), std::move(digest), static_cast<std::uint64_t>(*bytes)}};
}

Result<LockedPlatform> parse_platform(const Value& table, const std::string& product) {
  CUDAENV_CHECK(check_members(table, product + "platform", {"name", "archives"}));
  CUDAENV_TRY(name, name_in(table, product + "platform"));
  const std::string where = product + name;
  CUDAENV_TRY(archives, list_in<LockedArchive>(table, "archives", where,
                                               [&](const Value& element) { return parse_archive(element, where); }));
  if (archives.empty()) return unusable(where, "there are no archives");
  return LockedPlatform{std::move(name), std::move(archives)};
}

Result<std::vector<LockedPlatform>> platforms_in(const Value& table, const std::string& product) {
  return list_in<LockedPlatform>(table, "platform", product,
                                 [&](const Value& element) { return parse_platform(element, product); });
}

Result<LockedProduct> parse_product(const Value& table) {
  CUDAENV_CHECK(check_members(table, "product", {"name", "version", "manifest_sha256", "platform"}));
  CUDAENV_TRY(name, name_in(table, "product"));
  CUDAENV_TRY(version, text_in(table, "version", name));
  CUDAENV_TRY(digest, digest_in(table, "manifest_sha256", name));
  CUDAENV_TRY(platforms, platforms_in(table, name + ", "));
  if (platforms.empty()) return unusable(name, "there is no platform");
  return LockedProduct{std::move(name), std::move(version), std::move(digest), std::move(platforms)};
}

// --- Comparing ---

// Tells what has come, gone or changed between two sorted lists; `changed` is told of what is in both.
template <class T, class Gone, class Come, class Both>
void compare(const std::vector<T>& before, const std::vector<T>& after, Gone gone, Come come, Both both) {
  for (const T& element : before)
    if (!find_named(after, name_of(element))) gone(element);
  for (const T& element : after) {
    const T* was = find_named(before, name_of(element));
    if (was)
      both(*was, element);
    else
      come(element);
  }
}

bool is_same(const Archive& a, const Archive& b) {
  return a.relative_path == b.relative_path && a.sha256 == b.sha256 && a.size == b.size;
}

class Differences {
 public:
  void changed(std::string_view what, std::string_view before, std::string_view after) {
    if (before != after) add(fmt::format("{} {} -> {}", what, before, after));
  }

  void names(std::string_view what, const std::vector<std::string>& before, const std::vector<std::string>& after) {
    compare(
        before, after, [&](const std::string& name) { add(fmt::format("no longer {} {}", what, name)); },
        [&](const std::string& name) { add(fmt::format("{} {}", what, name)); }, [](const auto&, const auto&) {});
  }

  void platforms(const std::vector<LockedPlatform>& before, const std::vector<LockedPlatform>& after) {
    compare(
        before, after, [&](const LockedPlatform& gone) { add(fmt::format("no longer for {}", gone.name)); },
        [&](const LockedPlatform& come) { add(fmt::format("for {} as well", come.name)); },
        [&](const LockedPlatform& was, const LockedPlatform& is) { archives(was, is); });
  }

  void products(const std::vector<LockedProduct>& before, const std::vector<LockedProduct>& after) {
    compare(
        before, after, [&](const LockedProduct& gone) { add(fmt::format("no longer {}", gone.name)); },
        [&](const LockedProduct& come) { add(fmt::format("{} {} as well", come.name, come.version)); },
        [&](const LockedProduct& was, const LockedProduct& is) {
          changed(was.name, was.version, is.version);
          changed(fmt::format("manifest of {}", was.name), was.manifest_sha256, is.manifest_sha256);
          platforms(was.platforms, is.platforms);
        });
  }

  std::vector<std::string> take() { return std::move(m_lines); }

 private:
  void add(std::string line) { m_lines.push_back(base::escaped(line)); }

  void archives(const LockedPlatform& was, const LockedPlatform& is) {
    compare(
        was.archives, is.archives,
        [&](const LockedArchive& gone) { add(fmt::format("no longer {} ({})", gone.name, was.name)); },
        [&](const LockedArchive& come) { add(fmt::format("{} {} as well ({})", come.name, come.version, is.name)); },
        [&](const LockedArchive& old, const LockedArchive& now) {
          if (old.version != now.version)
            add(fmt::format("{} {} -> {} ({})", old.name, old.version, now.version, is.name));
          else if (!is_same(old.archive, now.archive))
            add(fmt::format("another archive of {} {} ({})", now.name, now.version, is.name));
        });
  }

  std::vector<std::string> m_lines;
};

}  // namespace

const LockedPlatform* LockedProduct::find(std::string_view platform) const { return find_named(platforms, platform); }

const LockedPlatform* Lock::find(std::string_view platform) const { return find_named(platforms, platform); }

const LockedProduct* Lock::find_product(std::string_view product) const { return find_named(products, product); }

std::string Lock::platform_names() const {
  std::vector<std::string> names;
  for (const LockedPlatform& platform : platforms) names.push_back(platform.name);
  return base::join(names, ", ");
}

LockedPlatform locked_platform(std::string_view platform, const ComponentPlan& plan) {
  LockedPlatform locked{std::string(platform), {}};
  for (const PlannedComponent& planned : plan.components)
    locked.archives.push_back({planned.component->name, planned.component->version, planned.archive});
  return locked;
}

std::string to_text(const Lock& lock) {
  std::string text =
      fmt::format("{}format = {}\n\nrelease = {}\nprofile = {}\nwith = {}\nwithout = {}\nmanifest_sha256 = {}\n",
                  k_head, k_format, quoted(to_text(lock.release)), quoted(to_text(lock.choice.profile)),
                  quoted(lock.choice.with), quoted(lock.choice.without), quoted(lock.manifest_sha256));
  text += text_of(lock.platforms, "platform");
  for (const LockedProduct& product : lock.products) {
    text += fmt::format("\n[[product]]\nname = {}\nversion = {}\nmanifest_sha256 = {}\n", quoted(product.name),
                        quoted(product.version), quoted(product.manifest_sha256));
    text += text_of(product.platforms, "product.platform");
  }
  return text;
}

Result<Lock> parse_lock(const Value& document) {
  const Value* format = document.find("format");
  if (!format || !format->as_integer()) return unusable("", "it has no format: that is no lock of a CUDA toolkit");
  if (*format->as_integer() != k_format)
    return unusable("", fmt::format("its format is {}, this cudaenv knows {}", *format->as_integer(), k_format));
  CUDAENV_CHECK(check_members(
      document, "", {"format", "release", "profile", "with", "without", "manifest_sha256", "platform", "product"}));
  CUDAENV_TRY(release_text, text_in(document, "release", ""));
  const auto release = parse_version(release_text);
  if (!release) return unusable("", fmt::format("\"{}\" is no release", base::escaped(release_text)));
  CUDAENV_TRY(profile_text, text_in(document, "profile", ""));
  const auto profile = parse_profile(profile_text);
  if (!profile) return unusable("", fmt::format("there is no profile \"{}\"", base::escaped(profile_text)));
  CUDAENV_TRY(with, names_in(document, "with"));
  CUDAENV_TRY(without, names_in(document, "without"));
  CUDAENV_TRY(digest, digest_in(document, "manifest_sha256", ""));
  CUDAENV_TRY(platforms, platforms_in(document, ""));
  if (platforms.empty()) return unusable("", "there is no platform");
  CUDAENV_TRY(products, list_in<LockedProduct>(document, "product", "", parse_product));
  return Lock{*release,
              {*profile, std::move(with), std::move(without)},
              std::move(digest),
              std::move(platforms),
              std::move(products)};
}

std::vector<std::string> differences(const Lock& before, const Lock& after) {
  Differences found;
  found.changed("release", to_text(before.release), to_text(after.release));
  found.changed("profile", to_text(before.choice.profile), to_text(after.choice.profile));
  found.names("with", before.choice.with, after.choice.with);
  found.names("without", before.choice.without, after.choice.without);
  if (before.release == after.release) found.changed("manifest", before.manifest_sha256, after.manifest_sha256);
  found.platforms(before.platforms, after.platforms);
  found.products(before.products, after.products);
  return found.take();
}

std::vector<std::string> departures(const LockedPlatform& locked, const std::vector<LockedArchive>& found) {
  std::vector<std::string> lines;
  compare(
      locked.archives, found,
      [&](const LockedArchive& gone) { lines.push_back(fmt::format("{} is missing", gone.name)); },
      [&](const LockedArchive& more) { lines.push_back(fmt::format("{} is not in the lock", more.name)); },
      [&](const LockedArchive& wanted, const LockedArchive& is) {
        const auto told = [&](std::string_view what, const auto& expected, const auto& got) {
          lines.push_back(fmt::format("{}: {} {}, in the lock {}", wanted.name, what, got, expected));
        };
        if (wanted.archive.sha256 != is.archive.sha256)
          told("sha256", wanted.archive.sha256, is.archive.sha256);
        else if (wanted.archive.size != is.archive.size)
          told("size", wanted.archive.size, is.archive.size);
        else if (wanted.archive.relative_path != is.archive.relative_path)
          told("archive", wanted.archive.relative_path, is.archive.relative_path);
      });
  for (std::string& line : lines) line = base::escaped(line);
  return lines;
}

}  // namespace cudaenv::core
