// SPDX-License-Identifier: Apache-2.0
#include "store/in_use.hpp"

#include <cstdlib>
#include <set>

#include <unistd.h>

#include "base/text.hpp"

namespace cudaenv::store {
namespace {

base::Path record_of(long id) { return base::Path("/proc") / std::to_string(id); }

// Its first line; empty where it cannot be read.
std::string text_of(const base::Path& file) {
  const auto content = base::read_file(file);
  return content && *content ? std::string(base::trimmed(**content)) : std::string();
}

// 0: there is none, or it is gone.
long parent_of(long id) {
  const std::string stat = text_of(record_of(id) / "stat");  // 12 (name, with any bytes) S 1 ...
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat.size() < name_end + 4 ? 0 : std::atol(stat.c_str() + name_end + 4);
}

std::set<long> ancestors() {
  std::set<long> all;
  for (long id = ::getppid(); id > 0 && all.insert(id).second;) id = parent_of(id);
  return all;
}

}  // namespace

std::optional<UsingProcess> process_using(const base::Path& directory) {
  std::error_code error;
  const base::Path real = std::filesystem::canonical(directory, error);
  const auto entries = base::list_directory("/proc");
  if (error || !entries) return std::nullopt;
  const std::set<long> above = ancestors();
  std::optional<UsingProcess> found;
  for (const std::string& entry : *entries) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    const long id = std::atol(entry.c_str());
    const bool is_ancestor = above.contains(id);
    if (found && !is_ancestor) continue;
    const auto program = base::link_target(record_of(id) / "exe");
    if (!program || !program->native().starts_with(real.native() + "/")) continue;
    found = UsingProcess{id, text_of(record_of(id) / "comm"), is_ancestor};
    if (is_ancestor) break;
  }
  return found;
}

}  // namespace cudaenv::store
