// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_lock.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "store/roots.hpp"

namespace cudaenv::store {

// A directory of this process's own beside the toolkits, so on their file system: what grows in it becomes a toolkit by
// one rename. It goes with the object. If the process dies instead, the lock beside it dies too and the next
// install removes it; nothing else ever looks at it.
class Staging {
 public:
  // Creates ROOT/versions where it is missing, and takes that back if nothing came of it.
  [[nodiscard]] static Result<Staging> create(const Root& root, std::string_view purpose);

  Staging(Staging&&) noexcept = default;
  Staging& operator=(Staging&&) noexcept = delete;
  ~Staging();

  const base::Path& path() const { return m_path; }

  // Leaves the directory where it is, as one of a dead process, for the next install to remove.
  void abandon();

 private:
  Staging(base::FileLock lock, base::Path path, std::vector<base::Path> created)
      : m_lock(std::move(lock)), m_path(std::move(path)), m_created(std::move(created)) {}

  std::optional<base::FileLock> m_lock;
  base::Path m_path;
  std::vector<base::Path> m_created;  // directories that this staging made, outermost first
};

// What was removed.
struct Removed {
  int count = 0;
  std::uint64_t bytes = 0;  // that are free by it
};

enum class Removal { real, pretended };

// Removes what dead processes left, and puts back a toolkit that one of them had moved aside; returns what that was, or
// without doing it what it would be. Whatever is in use by a living one stays, programs that run out of it included,
// and so does everything on a file system without locks, where the living cannot be told from the dead. `locked`: the
// toolkit whose lock the caller holds, if any.
Result<Removed> remove_dead_staging(const Root& root, std::string_view locked = {}, Removal removal = Removal::real);

// Moves a toolkit into a staging, to be removed with it; an older one of the name that was moved aside goes along, or
// it would be put back. The toolkit's lock must be held.
[[nodiscard]] Result<void> take_away(const Root& root, std::string_view name, const Staging& staging);

// One installer or remover a toolkit at a time. Waits for another one, telling `on_wait` its process id.
[[nodiscard]] Result<base::FileLock> lock_toolkit(const Root& root, std::string_view name,
                                                  const std::function<void(long)>& on_wait);

// Puts the finished tree at `from` in the toolkit's place in one step. A tree that stood there is exchanged with it and
// is then at `from`. Both are on one file system. Where that cannot exchange, the old tree is moved aside first:
// whoever dies in between leaves it to remove_dead_staging. The caller holds the toolkit's lock.
[[nodiscard]] Result<void> commit_toolkit(const base::Path& from, const base::Path& to);

}  // namespace cudaenv::store
