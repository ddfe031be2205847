// SPDX-License-Identifier: Apache-2.0
#include "core/loader_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::core {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t k_own = 0x0a03;
#else
constexpr std::uint32_t k_own = 0x0303;
#endif

struct Row {
  std::uint32_t flags;
  std::string name;
  std::string path;
};

void append(std::string& to, std::uint32_t number) { to.append(reinterpret_cast<const char*>(&number), 4); }

std::string cache_of(const std::vector<Row>& rows) {
  std::string strings;
  std::string entries;
  const auto text = [&](const std::string& value) {
    const std::size_t at = 48 + 24 * rows.size() + strings.size();
    strings.append(value).push_back('\0');
    return static_cast<std::uint32_t>(at);
  };
  for (const Row& row : rows) {
    append(entries, row.flags);
    append(entries, text(row.name));
    append(entries, text(row.path));
    entries.append(12, '\0');
  }
  std::string bytes = "glibc-ld.so.cache1.1";
  append(bytes, static_cast<std::uint32_t>(rows.size()));
  bytes.append(24, '\0');
  return bytes + entries + strings;
}

std::vector<std::string> found_in(std::string_view bytes, std::string_view name) {
  std::vector<std::string> paths;
  LoaderCache(bytes).find(name, [&](std::string_view path) {
    paths.emplace_back(path);
    return false;
  });
  return paths;
}

const std::vector<Row> k_rows = {{k_own, "libcudart.so.13", "/opt/a/libcudart.so.13"},
                                 {3, "libcudart.so.13", "/lib32/libcudart.so.13"},
                                 {k_own, "libm.so.6", "/lib/libm.so.6"},
                                 {k_own, "libcudart.so.13", "/opt/b/libcudart.so.13"}};

TEST(LoaderCache, finds_those_for_this_machine_in_their_order) {
  const std::vector<std::string> wanted = {"/opt/a/libcudart.so.13", "/opt/b/libcudart.so.13"};
  EXPECT_EQ(found_in(cache_of(k_rows), "libcudart.so.13"), wanted);
  EXPECT_TRUE(found_in(cache_of(k_rows), "libcudart.so.12").empty());
}

TEST(LoaderCache, stops_where_it_is_told_to) {
  int count = 0;
  EXPECT_TRUE(LoaderCache(cache_of(k_rows)).find("libcudart.so.13", [&](std::string_view) { return ++count == 1; }));
  EXPECT_EQ(count, 1);
}

TEST(LoaderCache, behind_the_table_of_older_loaders) {
  std::string older = "ld.so-1.7.0";
  older.push_back('\0');
  append(older, 3);
  older.append(std::size_t{3} * 12, 'x');
  older.resize((older.size() + 7) / 8 * 8);
  EXPECT_EQ(found_in(older + cache_of(k_rows), "libm.so.6"), std::vector<std::string>{"/lib/libm.so.6"});
}

TEST(LoaderCache, of_damaged_bytes_ends_well) {
  const std::string whole = cache_of(k_rows);
  for (std::size_t size = 0; size < whole.size(); ++size) (void)found_in(whole.substr(0, size), "libcudart.so.13");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = '\xff';
    (void)found_in(changed, "libcudart.so.13");
  }
  EXPECT_TRUE(found_in("", "libm.so.6").empty());
  EXPECT_TRUE(found_in("ld.so-1.7.0\0\xff\xff\xff\xff", "libm.so.6").empty());
}

}  // namespace
}  // namespace cudaenv::core
