// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "redist/transport.hpp"

namespace cudaenv::redist {

// What has come of an archive so far: a file that outlives this process, so that the next one goes on from there, with
// a note beside it of what the server said of it. The network writes at its end while one reader follows; the file is
// all the buffer there is between the two.
class PartialFile final : public Body {
 public:
  // Takes the file, whose name ends in ".part", for this process, creating it if need be. Null if another process has
  // it, or if the file system has no locks that would tell.
  [[nodiscard]] static Result<std::shared_ptr<PartialFile>> open(const base::Path& path, std::uint64_t size);
  // Removes what an earlier process has left there, unless another one is at it.
  static void discard(const base::Path& path);
  // One of this process alone, in a directory of its own.
  [[nodiscard]] static Result<std::shared_ptr<PartialFile>> create(const base::Path& path, std::uint64_t size);

  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Before it is begun, also once more: the base that it will come from, as shown.
  void expect_from(std::string base);

  bool is_complete() const { return offset() == m_size; }
  std::uint64_t found() const { return m_found; }  // bytes that an earlier process had left
  // Whether it has not come in one piece from one answer: a wrong digest may then be the pieces' fault.
  bool is_pieced() const { return m_is_pieced; }

  // Bytes from there on, waiting for them; 0 only at the end. What made the network give up is the error.
  // ErrorKind::interrupted as soon as `keep_going` says no.
  [[nodiscard]] Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer,
                                         const std::function<bool()>& keep_going);

  // All is here and right: it is what `path` names from now on, and no partial file any more. False if that is on
  // another file system.
  [[nodiscard]] Result<bool> become(const base::Path& path);
  // It is worth nothing: begins anew, from nothing.
  [[nodiscard]] Result<void> clear();
  // Nobody reads it any more; what came of it stays.
  void abandon() { m_is_wanted = false; }
  void remove();

  std::uint64_t offset() const override;
  std::string validator() const override;
  bool is_wanted() const override { return m_is_wanted; }
  void go_on() override { m_is_pieced = true; }
  [[nodiscard]] Result<void> restart(const ResponseHead& head) override;
  [[nodiscard]] Result<void> take(std::string_view bytes) override;
  void end(Result<void> outcome) override;

 private:
  PartialFile(base::Fd fd, base::Path path, std::uint64_t size)
      : m_fd(std::move(fd)), m_path(std::move(path)), m_size(size) {}

  base::Path note() const { return base::Path(m_path).replace_extension(".json"); }
  Result<void> take_over();
  Result<void> empty();
  void wait_for_end(std::unique_lock<std::mutex>& lock);

  const base::Fd m_fd;
  const base::Path m_path;
  const std::uint64_t m_size;  // of the whole
  std::atomic<std::uint64_t> m_found = 0;
  std::string m_base;
  std::string m_validator;  // what the note says, if it is of m_base
  std::atomic<bool> m_is_wanted = true;
  std::atomic<bool> m_is_pieced = false;

  mutable std::mutex m_mutex;
  std::condition_variable m_changed;
  std::uint64_t m_here = 0;
  bool m_is_begun = false;
  std::optional<Result<void>> m_outcome;
};

}  // namespace cudaenv::redist
