// SPDX-License-Identifier: Apache-2.0
#include "redist/carry_over.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <unordered_set>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/selection_types.hpp"
#include "store/receipt.hpp"

namespace cudaenv::redist {
namespace {

class Carrier {
 public:
  Carrier(const base::Path& from, const base::Path& to, const store::Receipt& receipt) : m_from(from), m_to(to) {
    for (const store::ReceiptFile& file : receipt.files) {
      m_known.insert(file.path);
      know_parents(file.path);
    }
    m_known.emplace(core::k_receipt_name);
  }

  Result<void> content(const std::string& path) {
    CUDAENV_TRY(names, base::list_directory(m_from / path));
    for (const std::string& name : names) {
      const std::string below = path.empty() ? name : path + "/" + name;
      const base::EntryKind kind = base::entry_kind(m_from / below);
      if (kind == base::EntryKind::directory)
        CUDAENV_CHECK(directory(below));
      else if (!m_known.contains(below))
        CUDAENV_CHECK(entry(below, kind));
    }
    return {};
  }

 private:
  // Paths are sorted: what is above one was mostly above the last.
  void know_parents(std::string_view path) {
    while (true) {
      const std::size_t slash = path.rfind('/');
      if (slash == std::string_view::npos) return;
      path = path.substr(0, slash);
      if (!m_directories.emplace(path).second) return;
    }
  }

  // One that belonged to what is installed goes with it, unless there is something else in it.
  Result<void> directory(const std::string& path) {
    const base::Path to = m_to / path;
    const base::EntryKind there = base::entry_kind(to);
    if (there == base::EntryKind::directory) return content(path);
    if (there != base::EntryKind::absent) return {};
    if (!m_directories.contains(path))
      if (auto made = base::make_directories(to); !made) return fail(std::move(made).error());
    CUDAENV_CHECK(content(path));
    return base::entry_kind(to) == base::EntryKind::directory ? keep_mode(path) : Result<void>();
  }

  // Last, as what it says may keep us from putting things into it.
  Result<void> keep_mode(const std::string& path) {
    struct stat info;
    if (::lstat((m_from / path).c_str(), &info) != 0 || ::chmod((m_to / path).c_str(), info.st_mode & 07777) != 0)
      return fail(base::file_error("keep the permissions of", m_from / path, errno));
    return {};
  }

  Result<void> entry(const std::string& path, base::EntryKind kind) {
    const base::Path to = m_to / path;
    if (base::entry_kind(to) != base::EntryKind::absent) return {};
    if (auto made = base::make_directories(to.parent_path()); !made) return fail(std::move(made).error());
    if (kind == base::EntryKind::link) {
      CUDAENV_TRY(target, base::link_target(m_from / path));
      return base::make_link(target, to);
    }
    return base::link_or_copy(m_from / path, AT_FDCWD, to.c_str());
  }

  const base::Path& m_from;
  const base::Path& m_to;
  std::unordered_set<std::string> m_known;
  std::unordered_set<std::string> m_directories;  // those that are above something known
};

}  // namespace

Result<void> carry_over(const base::Path& from, const base::Path& to) {
  CUDAENV_TRY(receipt, store::read_receipt(from));
  return Carrier(from, to, receipt).content({});
}

}  // namespace cudaenv::redist
