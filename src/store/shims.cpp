// SPDX-License-Identifier: Apache-2.0
#include "store/shims.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_lock.hpp"
#include "base/text.hpp"
#include "core/gate_record.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::store {
namespace {

constexpr int k_lock_deadline_seconds = 10;
constexpr std::string_view k_new = ".new-";  // starts the name of a shim that is being made

Result<std::set<std::string>> wanted_names(const Roots& roots) {
  std::set<std::string> names;
  CUDAENV_TRY(toolkits, installed_toolkits(roots));
  for (const Toolkit& toolkit : toolkits) {
    CUDAENV_TRY(tools, tools_of(toolkit));
    for (const std::string& tool : tools)
      if (gets_shim(toolkit, tool)) names.insert(tool);
  }
  return names;
}

Result<std::string> content_of(const base::Path& shim) {
  CUDAENV_TRY(content, base::read_file(shim));
  if (!content)
    return fail(ErrorKind::internal, fmt::format("the shim program is missing: {}", base::escaped(shim.native())));
  return std::move(*content);
}

// The names in the directory that are ours to manage: not `lib`, nothing hidden.
Result<std::set<std::string>> present_names(const base::Path& shims) {
  std::set<std::string> names;
  CUDAENV_TRY(entries, base::list_directory(shims));
  for (const std::string& name : entries)
    if (!name.starts_with('.') && base::entry_kind(shims / name) != base::EntryKind::directory) names.insert(name);
  return names;
}

// The names of what a rehash is making, or was when it was killed.
Result<std::vector<std::string>> unfinished_names(const base::Path& shims) {
  CUDAENV_TRY(entries, base::list_directory(shims));
  std::erase_if(entries, [](const std::string& name) { return !name.starts_with(k_new); });
  return std::move(entries);
}

bool is_same_file(const base::Path& a, const base::Path& b) {
  struct stat first;
  struct stat second;
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool is_current(const base::Path& shim, const std::string& program) {
  struct stat info;
  if (::lstat(shim.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 0111) != 0111 ||
      info.st_size != static_cast<off_t>(program.size()))
    return false;
  const auto content = base::read_file(shim);
  return content && *content && **content == program;
}

base::Path program_link(const Roots& roots) { return roots.own.path.native() + std::string(core::k_program_name); }

// Whether shims find the program there: it was installed into the root, or a link leads to it.
bool leads_to_program(const base::Path& link, const base::Path& program) {
  const base::EntryKind kind = base::entry_kind(link);
  if (kind != base::EntryKind::link) return kind != base::EntryKind::absent;
  const auto target = base::link_target(link);
  return target && *target == program;
}

Result<void> place_link(const base::Path& link, const base::Path& program, const base::Path& shims) {
  CUDAENV_CHECK(base::make_directories(link.parent_path()));
  const base::Path temporary = shims / fmt::format("{}program-{}", k_new, ::getpid());  // goes if this is killed
  ::unlink(temporary.c_str());
  CUDAENV_CHECK(base::make_link(program, temporary));
  if (base::rename_path(temporary, link)) return {};
  ::unlink(temporary.c_str());  // ROOT/bin on another file system
  if (::unlink(link.c_str()) != 0 && errno != ENOENT) return fail(base::file_error("replace", link, errno));
  return base::make_link(program, link);
}

// Whether there is nothing to do, so that a root that cannot be written is no trouble then.
Result<bool> is_settled(const Roots& roots, const std::string& shim, const base::Path& program) {
  const base::Path shims = roots.own.shims();
  CUDAENV_TRY(wanted, wanted_names(roots));
  CUDAENV_TRY(present, present_names(shims));
  CUDAENV_TRY(unfinished, unfinished_names(shims));
  if (wanted != present || !unfinished.empty()) return false;
  if (wanted.empty()) return true;
  if (!leads_to_program(program_link(roots), program)) return false;
  const base::Path first = shims / *wanted.begin();
  return is_current(first, shim) && std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
           return is_same_file(first, shims / name) || is_current(shims / name, shim);
         });
}

// Puts the program under a name in one step, whatever is there: a link is replaced, never written through. `file`: a
// shim to link to; empty: there is none yet.
Result<void> place(const base::Path& file, const base::Path& name, const std::string& program) {
  const base::Path temporary =
      fmt::format("{}/{}{}-{}", name.parent_path().native(), k_new, name.filename().native(), ::getpid());
  ::unlink(temporary.c_str());
  if (file.empty() || ::link(file.c_str(), temporary.c_str()) != 0) {
    if (!file.empty() && errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP && errno != ENOSYS)
      return fail(base::file_error("write", name, errno));
    CUDAENV_CHECK(base::write_file(temporary, program, 0755, base::Durable::no));
  }
  auto renamed = base::rename_path(temporary, name);
  ::unlink(temporary.c_str());  // rename leaves it when both were the same file already
  return renamed;
}

}  // namespace

Result<void> check_shim_program(const base::Path& shim) {
  CUDAENV_TRY(content, content_of(shim));
  (void)content;
  return {};
}

Result<ShimChanges> rebuild_shims(const Roots& roots, const base::Path& shim, const base::Path& program) {
  const base::Path shims = roots.own.shims();
  CUDAENV_TRY(content, content_of(shim));
  CUDAENV_TRY(settled, is_settled(roots, content, program));
  if (settled) return ShimChanges{};
  CUDAENV_CHECK(base::make_directories(shims));
  [[maybe_unused]] const auto lock = base::FileLock::acquire(
      shims / ".lock", [](long) {}, k_lock_deadline_seconds);
  if (!lock) return fail(lock.error());
  CUDAENV_TRY(wanted, wanted_names(roots));          // under the lock: what another process installed meanwhile counts
  CUDAENV_TRY(unfinished, unfinished_names(shims));  // under the lock, so those of the dead
  for (const std::string& name : unfinished) ::unlink((shims / name).c_str());
  CUDAENV_TRY(present, present_names(shims));
  ShimChanges changes;
  std::set_difference(wanted.begin(), wanted.end(), present.begin(), present.end(), std::back_inserter(changes.added));
  std::set_difference(present.begin(), present.end(), wanted.begin(), wanted.end(),
                      std::back_inserter(changes.removed));

  if (const base::Path link = program_link(roots); !wanted.empty() && !leads_to_program(link, program))
    CUDAENV_CHECK(place_link(link, program, shims));
  // One current shim serves as the file that all names link to.
  base::Path file;
  for (const std::string& name : wanted)
    if (file.empty() && is_current(shims / name, content)) file = shims / name;
  if (file.empty() && !wanted.empty()) {
    CUDAENV_CHECK(place({}, shims / *wanted.begin(), content));
    file = shims / *wanted.begin();
  }
  for (const std::string& name : wanted)
    if (!is_same_file(shims / name, file) && !is_current(shims / name, content))
      CUDAENV_CHECK(place(file, shims / name, content));
  for (const std::string& name : changes.removed)
    if (::unlink((shims / name).c_str()) != 0 && errno != ENOENT)
      return fail(base::file_error("remove", shims / name, errno));
  return changes;
}

}  // namespace cudaenv::store
