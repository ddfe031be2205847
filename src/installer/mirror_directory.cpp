// SPDX-License-Identifier: Apache-2.0
#include "installer/mirror_directory.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::installer {
namespace {

constexpr std::string_view k_part = ".part";
constexpr std::string_view k_index_start = "<!DOCTYPE html>\n<!-- made by cudaenv mirror -->\n";
constexpr std::uint64_t k_largest_text = 16u << 20;  // bytes

Result<void> add_files(const base::Path& top, const std::string& below, std::vector<std::string>& files) {
  CUDAENV_TRY(names, base::list_directory(top / below));
  for (const std::string& name : names) {
    if (name.starts_with('.')) continue;
    const std::string relative = below.empty() ? name : below + "/" + name;
    if (base::entry_kind(top / relative) == base::EntryKind::directory)
      CUDAENV_CHECK(add_files(top, relative, files));
    else
      files.push_back(relative);
  }
  return {};
}

}  // namespace

std::string MirrorDirectory::shown() const { return base::escaped(m_path.native()); }

Result<redist::ArchiveJob> MirrorDirectory::job(std::string_view component, const core::Archive& archive) const {
  const std::string& path = archive.relative_path;
  if (!core::is_plain_relative_path(path) || path.find('/') == std::string::npos || path.starts_with('.') ||
      path.ends_with(k_part))
    return fail(ErrorKind::integrity, fmt::format("the manifest is not usable: {} has the path \"{}\"",
                                                  base::escaped(component), base::escaped(path)));
  return redist::ArchiveJob{std::string(component), archive, m_path / path};
}

Result<std::vector<std::string>> MirrorDirectory::manifests() const {
  CUDAENV_TRY(names, base::list_directory(m_path));
  std::erase_if(names, [](const std::string& name) { return !core::release_of_manifest_name(name); });
  return std::move(names);
}

Result<void> MirrorDirectory::write(const base::Path& file, std::string_view text) const {
  if (base::entry_kind(file) == base::EntryKind::file) {
    CUDAENV_TRY(before, base::read_file(file, k_largest_text));
    if (before == text) return {};
  }
  return base::write_file(file, text);
}

Result<void> MirrorDirectory::place_manifest(const core::Version& release, std::string_view text) const {
  return write(m_path / core::manifest_name(release), text);
}

Result<void> MirrorDirectory::refresh_index() const {
  const base::Path page = m_path / k_index_page;
  CUDAENV_TRY(before, base::read_file(page, k_largest_text));
  if (before && !before->starts_with(k_index_start)) return {};
  CUDAENV_TRY(names, manifests());
  std::string text = fmt::format("{}<title>CUDA Toolkit archives</title>\n", k_index_start);
  for (const std::string& name : names) text += fmt::format("<a href=\"{0}\">{0}</a><br>\n", name);
  return write(page, text);
}

Result<std::vector<std::string>> MirrorDirectory::files() const {
  std::vector<std::string> files;
  CUDAENV_CHECK(add_files(m_path, "", files));
  return files;
}

}  // namespace cudaenv::installer
