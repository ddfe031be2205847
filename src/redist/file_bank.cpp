// SPDX-License-Identifier: Apache-2.0
#include "redist/file_bank.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <tuple>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/layout.hpp"
#include "core/selection_types.hpp"
#include "core/version_text.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_most_toolkits = 8;  // more would cost more to read than they are likely to spare

// The nearer a release is, the more archives it has in common.
auto distance(const core::Version& a, const core::Version& b) {
  return std::tuple(std::abs(static_cast<int>(a.major) - static_cast<int>(b.major)),
                    std::abs(static_cast<int>(a.minor) - static_cast<int>(b.minor)),
                    std::abs(static_cast<int>(a.patch) - static_cast<int>(b.patch)));
}

bool belongs_to(const store::ReceiptFile& file, std::string_view component) {
  return file.component == component ||
         std::find(file.also_of.begin(), file.also_of.end(), component) != file.also_of.end();
}

}  // namespace

FileBank::FileBank(const store::Root& root, const core::Version& release, std::string_view platform, OwnFiles own_files,
                   std::function<bool()> keep_going)
    : m_own_files(own_files), m_keep_going(std::move(keep_going)) {
  std::vector<core::Version> releases;
  const auto names = base::list_directory(root.versions());
  if (!names) return;  // nothing to share is no fault
  for (const std::string& name : *names)
    if (const auto version = core::parse_version(name)) releases.push_back(*version);
  std::sort(releases.begin(), releases.end(), [&](const core::Version& a, const core::Version& b) {
    return distance(a, release) < distance(b, release);
  });
  for (const core::Version& candidate : releases) {
    if (m_toolkits.size() == k_most_toolkits) break;
    const base::Path toolkit = root.toolkit(core::to_text(candidate));
    if (base::entry_kind(toolkit) != base::EntryKind::directory) continue;  // an adopted one is a link
    auto receipt = store::read_receipt(toolkit);
    if (!receipt || receipt->platform != platform || receipt->layout != core::k_layout) continue;
    m_toolkits.push_back({toolkit, candidate == release, std::move(*receipt)});
  }
  for (const Member& member : m_toolkits)
    for (const store::ReceiptFile& file : member.receipt.files)
      if (file.target.empty()) m_by_digest.emplace(file.sha256, Place{&member, &file});
}

std::vector<FileBank::Kept> FileBank::holders(const core::PlannedComponent& planned,
                                              const core::FileChoice& choice) const {
  const std::string& name = planned.component->name;
  std::vector<Kept> holders;
  for (const Member& member : m_toolkits) {
    const auto& components = member.receipt.components;
    const auto found =
        std::find_if(components.begin(), components.end(), [&](const store::ReceiptComponent& candidate) {
          return candidate.name == name && candidate.archive_sha256 == planned.archive.sha256 &&
                 candidate.product == planned.product && candidate.lib_directory == planned.lib_directory;
        });
    if (found == components.end()) continue;
    if (!core::FileChoice(member.receipt.without).is_within(choice)) continue;
    Kept kept{member.toolkit, member.is_own, {}};
    for (const store::ReceiptFile& file : member.receipt.files)
      if (belongs_to(file, name) && !choice.leaves_out(file.path)) kept.files.push_back(&file);
    holders.push_back(std::move(kept));
  }
  return holders;
}

// Whether the file is what the receipt says that it is.
bool FileBank::is_intact(const base::Path& path, const store::ReceiptFile& file) const {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (!fd || ::fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (static_cast<std::uint64_t>(info.st_size) != file.size || (info.st_mode & 07777) != file.mode) return false;
  return digest_of_file(*fd, m_keep_going).sha256 == file.sha256;
}

// A copy that shares its blocks where the file system can make one, else another name, else a copy.
bool FileBank::link(const base::Path& from, bool is_own, int directory, const char* name) const {
  if (m_can_clone) {
    const base::Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    const base::Fd copy(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!source || !copy || ::fstat(*source, &info) != 0) return false;
    if (::ioctl(*copy, FICLONE, *source) == 0) {
      const timespec times[2] = {info.st_atim, info.st_mtim};
      (void)::futimens(*copy, times);
      return ::fchmod(*copy, info.st_mode & 07777) == 0;
    }
    m_can_clone = false;
    ::unlinkat(directory, name, 0);
  }
  // What stays in a toolkit is copied where there are no hard links, or none to what another user owns.
  if (is_own) return base::link_or_copy(from, directory, name).has_value();
  // A name that its owner, or anybody, can write through is none to share.
  struct stat info;
  if (::lstat(from.c_str(), &info) != 0 || info.st_uid != ::geteuid() || (info.st_mode & 022) != 0) return false;
  return ::linkat(AT_FDCWD, from.c_str(), directory, name, 0) == 0;
}

bool FileBank::link_file(std::string_view sha256, std::uint64_t size, mode_t mode, int directory,
                         const char* name) const {
  const auto found = m_by_digest.find(sha256);
  if (found == m_by_digest.end()) return false;
  const auto& [toolkit, file] = found->second;
  const base::Path path = toolkit->toolkit / file->path;
  if (file->size != size || file->mode != mode || !is_intact(path, *file)) return false;
  return link(path, toolkit->is_own, directory, name);
}

Result<bool> FileBank::link_component(const Kept& kept, const base::Path& to) const {
  const bool is_believed = kept.is_own && m_own_files == OwnFiles::as_they_are;
  std::string last_parent;
  for (const store::ReceiptFile* file : kept.files) {
    if (m_keep_going && !m_keep_going()) return fail(ErrorKind::interrupted, "interrupted");
    const base::Path from = kept.toolkit / file->path;
    const base::Path place = to / file->path;
    if (const std::string parent = place.parent_path(); parent != last_parent) {
      CUDAENV_CHECK(base::make_directories(parent));
      last_parent = parent;
    }
    if (!file->target.empty()) {
      CUDAENV_CHECK(base::make_link(file->target, place));
      continue;
    }
    if (!is_believed && !is_intact(from, *file)) return false;
    if (!link(from, kept.is_own, AT_FDCWD, place.c_str())) return false;
  }
  return true;
}

}  // namespace cudaenv::redist
