// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "base/toml.hpp"
#include "core/lock.hpp"

namespace {

using namespace cudaenv;

void check(const std::vector<core::LockedPlatform>& platforms) {
  for (const core::LockedPlatform& platform : platforms)
    for (const core::LockedArchive& locked : platform.archives) {
      require(core::is_plain_relative_path(locked.archive.relative_path) && core::is_sha256(locked.archive.sha256));
      require(locked.archive.size > 0 && locked.archive.size <= core::k_largest_archive);
    }
}

}  // namespace

// No lock makes us fetch from outside a mirror or without a digest, and what is read is what is written.
void fuzz(std::string_view bytes) {
  const auto document = base::parse_toml(bytes);
  if (!document) return;
  const auto lock = core::parse_lock(*document);
  if (!lock) return;
  check(lock->platforms);
  for (const core::LockedProduct& product : lock->products) check(product.platforms);
  const auto again = base::parse_toml(core::to_text(*lock));
  require(again.has_value());
  const auto same = core::parse_lock(*again);
  require(same && core::to_text(*same) == core::to_text(*lock) && core::differences(*lock, *same).empty());
}
