// SPDX-License-Identifier: Apache-2.0
#include "core/file_choice.hpp"

#include <algorithm>
#include <iterator>

namespace cudaenv::core {
namespace {

// What nvcc links by itself, and what those need: without them nothing can be built.
constexpr std::string_view k_kept_archives[] = {"libcudart_static.a", "libcudadevrt.a", "libculibos.a"};

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `libX.a`, and the thin or alternative ones beside it: libnvrtc_static.alt.a. Most of a toolkit's bytes are in these,
// and each but a few has a shared library beside it. Source: archive_layouts of the redistributables, sections 2 and 5.
bool is_static_library(std::string_view path) {
  const std::string_view name = name_of(path);
  if (!name.starts_with("lib") || !name.ends_with(".a")) return false;
  return std::find(std::begin(k_kept_archives), std::end(k_kept_archives), name) == std::end(k_kept_archives);
}

// cuda_cupti has them at its top, and libcufile had to 12.3; the Nsight tools in a directory of each version.
bool is_sample(std::string_view path) {
  return path.starts_with("samples/") || path.starts_with("extras/CUPTI/samples/") ||
         (path.starts_with("nsight-") && path.find("/samples/") != std::string_view::npos);
}

constexpr FileGroup k_groups[] = {
    {"samples", "example sources that come with the profiling libraries", is_sample},
    {"static", "static libraries, but for those that nvcc links by itself", is_static_library},
};

}  // namespace

std::span<const FileGroup> file_groups() { return k_groups; }

const FileGroup* find_file_group(std::string_view word) {
  const auto found = std::find_if(std::begin(k_groups), std::end(k_groups),
                                  [&](const FileGroup& group) { return group.word == word; });
  return found == std::end(k_groups) ? nullptr : found;
}

FileChoice::FileChoice(std::span<const std::string> without) {
  for (const std::string& word : without)
    if (const FileGroup* group = find_file_group(word)) m_groups |= 1U << (group - k_groups);
}

bool FileChoice::leaves_out(std::string_view path) const {
  for (std::size_t i = 0; i < std::size(k_groups); ++i)
    if ((m_groups >> i & 1U) != 0 && k_groups[i].has(path)) return true;
  return false;
}

std::vector<std::string> FileChoice::beyond(const FileChoice& other) const {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::size(k_groups); ++i)
    if ((m_groups & ~other.m_groups) >> i & 1U) words.emplace_back(k_groups[i].word);
  return words;
}

}  // namespace cudaenv::core
