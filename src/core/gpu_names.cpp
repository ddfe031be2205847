// SPDX-License-Identifier: Apache-2.0
#include "core/gpu_names.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "core/registry_lookup.hpp"

namespace cudaenv::core {
namespace {

using Words = std::vector<std::string>;

// Makers and families, which people leave out or put in.
constexpr std::array<std::string_view, 4> k_families = {"nvidia", "geforce", "tesla", "quadro"};

bool is_family(const std::string& word) {
  return std::find(k_families.begin(), k_families.end(), word) != k_families.end();
}

bool is_memory_size(const std::string& word) {
  return word.size() > 2 && word.ends_with("gb") && word.find_first_not_of("0123456789") == word.size() - 2;
}

Words words_of(std::string_view name) {
  Words words(1);
  for (const char c : name) {
    const char folded = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (folded == ' ' || folded == '-' || folded == '_')
      words.emplace_back();
    else
      words.back() += folded;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty() || is_family(word); });
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

bool has_all(const Words& name, const Words& typed) {
  return std::all_of(typed.begin(), typed.end(),
                     [&](const std::string& word) { return std::find(name.begin(), name.end(), word) != name.end(); });
}

using Fits = std::function<bool(const Words& name, const Words& typed)>;

std::vector<const GpuRow*> rows_that_fit(const Registry& registry, const Words& typed, const Fits& fits) {
  std::vector<const GpuRow*> rows;
  if (typed.empty()) return rows;
  for (const GpuRow& row : registry.gpus)
    if (fits(words_of(row.name), typed)) rows.push_back(&row);
  return rows;
}

}  // namespace

std::vector<const GpuRow*> gpus_meant(const Registry& registry, std::string_view typed) {
  std::vector<const GpuRow*> rows;
  for (const GpuRow& row : gpus_named(registry, typed)) rows.push_back(&row);
  const std::array<Fits, 3> readings = {
      [](const Words& name, const Words& words) { return joined(name).starts_with(joined(words)); },
      has_all,
      [](const Words& name, const Words& words) { return joined(name).find(joined(words)) != std::string::npos; },
  };
  Words words = words_of(typed);
  for (const Fits& fits : readings)
    if (rows.empty()) rows = rows_that_fit(registry, words, fits);
  if (!rows.empty() || std::erase_if(words, is_memory_size) == 0) return rows;
  for (const Fits& fits : readings)
    if (rows.empty()) rows = rows_that_fit(registry, words, fits);
  return rows;
}

}  // namespace cudaenv::core
