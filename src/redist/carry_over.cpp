// SPDX-License-Identifier: Apache-2.0
#include "redist/carry_over.hpp"

#include <cerrno>
#include <string>
#include <unordered_set>

#include <fcntl.h>
#include <unistd.h>

#include "core/selection_types.hpp"
#include "store/receipt.hpp"

namespace cudaenv::redist {
namespace {

class Carrier {
 public:
  Carrier(const base::Path& from, const base::Path& to, const store::Receipt& receipt) : m_from(from), m_to(to) {
    for (const store::ReceiptFile& file : receipt.files) m_known.insert(file.path);
    m_known.emplace(core::k_receipt_name);
  }

  Result<void> directory(const std::string& path) {
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
  Result<void> entry(const std::string& path, base::EntryKind kind) {
    const base::Path to = m_to / path;
    if (base::entry_kind(to) != base::EntryKind::absent) return {};
    if (auto made = base::make_directories(to.parent_path()); !made) return fail(std::move(made).error());
    if (kind == base::EntryKind::link) {
      CUDAENV_TRY(target, base::link_target(m_from / path));
      return base::make_link(target, to);
    }
    if (::linkat(AT_FDCWD, (m_from / path).c_str(), AT_FDCWD, to.c_str(), 0) != 0)
      return fail(base::file_error("keep", m_from / path, errno));
    return {};
  }

  const base::Path& m_from;
  const base::Path& m_to;
  std::unordered_set<std::string> m_known;
};

}  // namespace

Result<void> carry_over(const base::Path& from, const base::Path& to) {
  CUDAENV_TRY(receipt, store::read_receipt(from));
  return Carrier(from, to, receipt).directory({});
}

}  // namespace cudaenv::redist
