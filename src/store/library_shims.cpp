// SPDX-License-Identifier: Apache-2.0
#include "store/library_shims.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

#include "base/file_lock.hpp"
#include "base/text.hpp"
#include "core/library_shim.hpp"
#include "elf/shim_writer.hpp"
#include "store/shim_plan.hpp"
#include "store/shim_sources.hpp"

namespace cudaenv::store {
namespace {

constexpr int k_lock_deadline_seconds = 10;
constexpr std::string_view k_new = ".new-";  // starts the name of a shim that is being made

// SONAMEs of libcudart that programs may have been linked with. One is added here when NVIDIA changes it.
const std::vector<std::string>& known_sonames() {
  static const std::vector<std::string> sonames = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
  return sonames;
}

using Shims = std::map<std::string, std::string>;  // bytes by name

Result<Shims> make_shims(const Roots& roots, const base::Path& template_path, const base::Path& host,
                         std::vector<std::string>& warnings) {
  Shims shims;
  CUDAENV_TRY(sources, find_shim_sources(roots, host, known_sonames()));
  warnings = std::move(sources.warnings);
  if (sources.installed.empty()) return shims;
  CUDAENV_TRY(content, base::read_file(template_path));
  if (!content)
    return fail(ErrorKind::internal,
                fmt::format("the template of the library shims is missing: {}", base::escaped(template_path.native())));
  for (const PlannedShim& planned : plan_shims(sources, known_sonames(), roots.own.path.native())) {
    auto shim =
        planned.refusal.empty() ? elf::write_shim(*content, planned.plan) : fail(ErrorKind::config, planned.refusal);
    if (shim) {
      shims.emplace(planned.plan.soname, std::move(*shim));
    } else if (shim.error().kind == ErrorKind::config) {
      warnings.push_back(fmt::format("{} gets no library shim: {}", planned.plan.soname, shim.error().message));
    } else {
      return fail(std::move(shim).error());
    }
  }
  return shims;
}

// What there is, by name: the shims, and what a rehash was making when it was killed. Nothing else is ours.
struct Present {
  std::set<std::string> shims;
  std::vector<std::string> unfinished;
};

Result<Present> present_in(const base::Path& directory) {
  Present present;
  CUDAENV_TRY(names, base::list_directory(directory));
  for (const std::string& name : names) {
    if (name.starts_with(k_new)) present.unfinished.push_back(name);
    if (name.starts_with('.') || base::entry_kind(directory / name) != base::EntryKind::file) continue;
    const auto content = base::read_file(directory / name);
    if (content && *content && elf::is_shim(**content)) present.shims.insert(name);
  }
  return present;
}

bool is_current(const base::Path& file, const std::string& shim) {
  if (base::entry_kind(file) != base::EntryKind::file) return false;
  const auto content = base::read_file(file);
  return content && *content && **content == shim;
}

// In one step, whatever is there: a link is replaced, never written through.
Result<void> place(const base::Path& directory, const std::string& name, const std::string& shim) {
  const base::Path temporary = directory / fmt::format("{}{}-{}", k_new, name, ::getpid());
  ::unlink(temporary.c_str());
  CUDAENV_CHECK(base::write_file(temporary, shim, 0755, base::Durable::no));
  auto renamed = base::rename_path(temporary, directory / name);
  if (!renamed) ::unlink(temporary.c_str());
  return renamed;
}

Result<void> remove_file(const base::Path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return fail(base::file_error("remove", file, errno));
  return {};
}

// Of what is to be done; `shims` without those that are current.
struct Work {
  Shims outdated;
  std::vector<std::string> stale;
  std::vector<std::string> unfinished;

  bool is_none() const { return outdated.empty() && stale.empty() && unfinished.empty(); }
};

Result<Work> work_in(const base::Path& directory, Shims shims) {
  CUDAENV_TRY(present, present_in(directory));
  Work work;
  work.unfinished = std::move(present.unfinished);
  for (const std::string& name : present.shims)
    if (!shims.contains(name)) work.stale.push_back(name);
  std::erase_if(shims, [&](const auto& shim) { return is_current(directory / shim.first, shim.second); });
  work.outdated = std::move(shims);
  return work;
}

}  // namespace

Result<LibraryShimChanges> rebuild_library_shims(const Roots& roots, const base::Path& shim_template,
                                                 const base::Path& host) {
  LibraryShimChanges changes;
  if constexpr (core::k_elf_machine == 0) return changes;  // there is no template for this machine
  const base::Path directory = roots.own.library_shims();
  // First without the lock, so that a root that cannot be written is no trouble where nothing is to be done; under it
  // once more, so that what another process installed meanwhile counts.
  std::optional<base::FileLock> lock;
  while (true) {
    CUDAENV_TRY(shims, make_shims(roots, shim_template, host, changes.warnings));
    CUDAENV_TRY(work, work_in(directory, std::move(shims)));
    if (work.is_none()) return changes;
    if (!lock) {
      CUDAENV_CHECK(base::make_directories(directory));
      auto acquired = base::FileLock::acquire(
          roots.own.shims() / ".lock", [](long) {}, k_lock_deadline_seconds);
      if (!acquired) return fail(std::move(acquired).error());
      lock.emplace(std::move(*acquired));
      continue;
    }
    for (const std::string& name : work.unfinished) CUDAENV_CHECK(remove_file(directory / name));
    for (const auto& [name, shim] : work.outdated) {
      CUDAENV_CHECK(place(directory, name, shim));
      changes.written.push_back(name);
    }
    for (const std::string& name : work.stale) CUDAENV_CHECK(remove_file(directory / name));
    changes.removed = std::move(work.stale);
    return changes;
  }
}

}  // namespace cudaenv::store
