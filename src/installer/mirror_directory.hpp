// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/manifest.hpp"
#include "redist/fetch_all.hpp"

namespace cudaenv::installer {

// A directory that `mirror` fills: manifests, archives below them, and an index page. That page is for web servers:
// many refuse to list a directory (403), which is no answer, and without a list a spec would stand for releases that
// are not here.
class MirrorDirectory {
 public:
  explicit MirrorDirectory(base::Path path) : m_path(std::move(path)) {}

  const base::Path& path() const { return m_path; }
  std::string shown() const;

  // Where an archive of a manifest is to lie. ErrorKind::integrity for a path that could be that of something else:
  // a manifest, the index page, an archive that is on its way.
  [[nodiscard]] Result<redist::ArchiveJob> job(std::string_view component, const core::Archive& archive) const;

  // Its manifests, sorted by name.
  [[nodiscard]] Result<std::vector<std::string>> manifests() const;

  // Puts a manifest there unless this very one is there.
  [[nodiscard]] Result<void> place_manifest(const core::Version& release, std::string_view text) const;

  // Brings the index page up to date. One that somebody else wrote stays.
  [[nodiscard]] Result<void> refresh_index() const;

  // All files below but hidden ones, relative and sorted. Links are not followed.
  [[nodiscard]] Result<std::vector<std::string>> files() const;

 private:
  [[nodiscard]] Result<void> write(const base::Path& file, std::string_view text) const;

  base::Path m_path;
};

inline constexpr std::string_view k_index_page = "index.html";

}  // namespace cudaenv::installer
