// SPDX-License-Identifier: Apache-2.0
#include "store/shim_sources.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "core/library_shim.hpp"
#include "core/loader_cache.hpp"
#include "core/shimmed_libraries.hpp"
#include "elf/shim_writer.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::store {
namespace {

constexpr std::string_view k_loader_cache = "/etc/ld.so.cache";

// A library as a shim would open it; nothing if it is not for this machine, or is a shim. An error if it is damaged.
Result<std::optional<ShimSource>> read_source(const base::Path& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (!file || ::fstat(*file, &info) != 0) return fail(base::file_error("read", path, errno));
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const elf::ByteSource source = elf::source_of(*file, size);
  std::string header(sizeof(Elf64_Ehdr), '\0');
  if (source.read(0, header.data(), header.size()) && elf::is_shim(header)) return std::nullopt;
  CUDAENV_TRY(library, elf::read_shared_library(source, path.filename().native()));
  if (library.machine != core::k_elf_machine || library.soname != path.filename()) return std::nullopt;
  const core::FileStamp stamp{true, 0, 0, size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return ShimSource{path, core::library_key(stamp), std::move(library), {}};
}

void add_source(const base::Path& path, std::vector<ShimSource>& sources, ShimSources& all) {
  auto source = read_source(path);
  if (!source) {
    std::string reason = source.error().message;
    for (const std::string& detail : source.error().details) reason += ": " + detail;
    all.warnings.push_back(fmt::format("{} gets no library shim: {}", base::escaped(path.native()), reason));
  } else if (*source) {
    sources.push_back(std::move(**source));
  }
}

// What the library opens by name, and what it needs, as far as it lies beside it and no run path leads there.
std::vector<std::string> preload_of(const elf::SharedLibrary& library, const std::vector<std::string>& beside) {
  std::vector<std::string> preload;
  for (const core::OpenedByName& each : core::k_opened_by_name) {
    if (core::library_stem(library.soname) != each.stem) continue;
    for (const std::string& name : beside)
      if (core::is_versioned_library(name, each.opened)) preload.push_back(name);
  }
  if (library.has_run_path) return preload;
  for (const std::string& needed : library.needed)
    if (core::is_shimmed_library(needed) && std::find(beside.begin(), beside.end(), needed) != beside.end())
      preload.push_back(needed);
  return preload;
}

void add_installed(const Toolkit& toolkit, ShimSources& all) {
  std::set<std::string> seen;
  for (const std::string_view place : core::k_library_places) {
    const base::Path directory(toolkit.directory.native() + std::string(place));
    const auto names = base::list_directory(directory);
    if (!names) continue;  // as selection has it: what may not be read is not there
    const std::size_t first = all.installed.size();
    for (const std::string& name : *names)
      if (core::is_shimmed_library(name) && seen.insert(name).second) add_source(directory / name, all.installed, all);
    for (std::size_t i = first; i < all.installed.size(); ++i)
      all.installed[i].preload = preload_of(all.installed[i].library, *names);
  }
}

void add_system(const std::string& soname, const std::string& cache, const base::Path& host, ShimSources& all) {
  base::Path path;
  const auto is_it = [&](std::string_view file) {
    path = file;
    const auto source = read_source(path);
    return source && source->has_value();
  };
  bool is_found = core::LoaderCache(cache).find(soname, is_it);
  for (const std::string_view place : core::k_usual_library_places)
    is_found = is_found || is_it(host.native() + std::string(place) + soname);
  if (is_found) add_source(path, all.system, all);
}

}  // namespace

Result<ShimSources> find_shim_sources(const Roots& roots, const base::Path& host,
                                      const std::vector<std::string>& known) {
  ShimSources all;
  CUDAENV_TRY(toolkits, installed_toolkits(roots));
  for (const Toolkit& toolkit : toolkits) add_installed(toolkit, all);
  if (all.installed.empty()) return all;
  std::set<std::string> sonames(known.begin(), known.end());
  for (const ShimSource& source : all.installed) sonames.insert(source.library.soname);
  const auto cache = base::read_file(host.native() + std::string(k_loader_cache), core::LoaderCache::k_largest);
  const std::string content = cache && *cache ? **cache : std::string();
  for (const std::string& soname : sonames) add_system(soname, content, host, all);
  return all;
}

}  // namespace cudaenv::store
