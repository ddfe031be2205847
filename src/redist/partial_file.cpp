// SPDX-License-Identifier: Apache-2.0
#include "redist/partial_file.hpp"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::chrono::milliseconds k_slice{50};
constexpr std::uint64_t k_largest_note = 64u << 10;

base::Fd open_for_writing(const base::Path& path, int flags) {
  return base::Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
}

enum class Holder { us, others, unknown };

// Who has the lock from now on. Where the file system has no locks, everybody gets one, or nobody.
Holder take_lock(const base::Fd& fd, const base::Path& path) {
  while (::flock(*fd, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno == EWOULDBLOCK ? Holder::others : Holder::unknown;
  const base::Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!again) return Holder::others;  // who had it has just finished
  return ::flock(*again, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? Holder::us : Holder::unknown;
}

bool is_still_at(const base::Fd& fd, const base::Path& path) {
  struct stat opened;
  struct stat current;
  return ::fstat(*fd, &opened) == 0 && ::lstat(path.c_str(), &current) == 0 && opened.st_ino == current.st_ino &&
         opened.st_dev == current.st_dev;
}

}  // namespace

Result<std::shared_ptr<PartialFile>> PartialFile::open(const base::Path& path, std::uint64_t size) {
  while (true) {
    base::Fd fd = open_for_writing(path, 0);
    if (!fd && (errno == EACCES || errno == EROFS)) return nullptr;
    if (!fd) return fail(base::file_error("write", path, errno));
    const Holder holder = take_lock(fd, path);
    if (!is_still_at(fd, path)) continue;                   // its last owner has just finished it
    if (holder == Holder::unknown) ::unlink(path.c_str());  // nobody uses it here
    if (holder != Holder::us) return nullptr;
    std::shared_ptr<PartialFile> file(new PartialFile(std::move(fd), path, size));
    CUDAENV_CHECK(file->take_over());
    return file;
  }
}

Result<std::shared_ptr<PartialFile>> PartialFile::create(const base::Path& path, std::uint64_t size) {
  base::Fd fd = open_for_writing(path, O_EXCL);
  if (!fd) return fail(base::file_error("write", path, errno));
  return std::shared_ptr<PartialFile>(new PartialFile(std::move(fd), path, size));
}

Result<void> PartialFile::take_over() {
  struct stat info;
  if (::fstat(*m_fd, &info) != 0) return fail(base::file_error("read", m_path, errno));
  m_here = static_cast<std::uint64_t>(info.st_size);
  if (m_here > m_size) CUDAENV_CHECK(empty());
  m_found = m_here;
  m_is_pieced = m_here > 0;
  return {};
}

void PartialFile::expect_from(std::string base) {
  const std::lock_guard lock(m_mutex);
  m_base = std::move(base);
  m_validator.clear();
  m_outcome.reset();
  m_is_begun = true;
  if (m_here == 0) return;
  m_is_pieced = true;
  const auto text = base::read_file(note(), k_largest_note);
  if (!text || !*text) return;  // then the digest alone decides
  const auto document = base::parse_json(**text);
  if (document && document->text("base") == m_base) m_validator = document->text("validator");
}

std::uint64_t PartialFile::offset() const {
  const std::lock_guard lock(m_mutex);
  return m_here;
}

std::string PartialFile::validator() const {
  const std::lock_guard lock(m_mutex);
  return m_validator;
}

Result<void> PartialFile::empty() {
  if (::ftruncate(*m_fd, 0) != 0) return fail(base::file_error("write", m_path, errno));
  m_here = 0;
  return {};
}

Result<void> PartialFile::restart(const ResponseHead& head) {
  const std::lock_guard lock(m_mutex);
  if (m_here > 0) m_is_pieced = true;  // the reader may have had some of what was here
  CUDAENV_CHECK(empty());
  m_validator = validator_of(head);
  const base::Value note_text = base::Value::Object{{"base", m_base}, {"validator", m_validator}};
  return base::write_file(note(), base::to_json(note_text), 0600, base::Durable::no);
}

Result<void> PartialFile::take(std::string_view bytes) {
  std::uint64_t at = offset();
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(*m_fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(base::file_error("write", m_path, errno));
    at += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  const std::lock_guard lock(m_mutex);
  m_here = at;
  m_changed.notify_all();
  return {};
}

void PartialFile::end(Result<void> outcome) {
  const std::lock_guard lock(m_mutex);
  m_outcome = std::move(outcome);
  m_changed.notify_all();
}

Result<std::size_t> PartialFile::read(std::uint64_t offset, std::span<char> buffer,
                                      const std::function<bool()>& keep_going) {
  {
    std::unique_lock lock(m_mutex);
    while (m_here <= offset && m_here < m_size && !m_outcome) {
      if (keep_going && !keep_going()) return fail(ErrorKind::interrupted, "interrupted");
      m_changed.wait_for(lock, k_slice);
    }
    if (m_here <= offset) {
      if (m_here < m_size && m_outcome && !*m_outcome) return fail(Error(m_outcome->error()));
      return std::size_t{0};
    }
    buffer = buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), m_here - offset)));
  }
  while (true) {
    const ssize_t got = ::pread(*m_fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(base::file_error("read", m_path, errno));
    return static_cast<std::size_t>(got);
  }
}

void PartialFile::wait_for_end(std::unique_lock<std::mutex>& lock) {
  m_changed.wait(lock, [this] { return !m_is_begun || m_outcome.has_value(); });
}

Result<bool> PartialFile::become(const base::Path& path) {
  m_is_wanted = false;
  (void)::fchmod(*m_fd, 0644);  // as readable as the toolkits are
  if (::rename(m_path.c_str(), path.c_str()) != 0) {
    if (errno == EXDEV) return false;
    return fail(base::file_error("rename", m_path, errno));
  }
  ::unlink(note().c_str());
  return true;
}

Result<void> PartialFile::clear() {
  std::unique_lock lock(m_mutex);
  wait_for_end(lock);
  m_found = 0;
  m_is_pieced = false;
  m_is_begun = false;
  m_outcome.reset();
  return empty();
}

void PartialFile::discard(const base::Path& path) {
  if (base::entry_kind(path) != base::EntryKind::file) return;
  const auto file = open(path, ~std::uint64_t{0});
  if (file && *file) (*file)->remove();
}

void PartialFile::remove() {
  m_is_wanted = false;
  ::unlink(m_path.c_str());
  ::unlink(note().c_str());
}

}  // namespace cudaenv::redist
