// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "base/json.hpp"
#include "core/manifest.hpp"

// No manifest makes us fetch from outside its folder, or without a digest.
void fuzz(std::string_view bytes) {
  using namespace cudaenv;
  const auto document = base::parse_json(bytes);
  if (!document) return;
  const auto manifest = core::parse_manifest(*document);
  if (!manifest) return;
  for (const core::Component& component : manifest->components)
    for (const core::PlatformArchives& archives : component.platforms)
      for (const auto& [variant, archive] : archives.by_variant) {
        require(core::is_plain_relative_path(archive.relative_path) && archive.sha256.size() == 64);
        require(archive.size > 0 && archive.size <= core::k_largest_archive);
      }
}
