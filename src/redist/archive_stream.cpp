// SPDX-License-Identifier: Apache-2.0
#include "redist/archive_stream.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"

namespace cudaenv::redist {
namespace {

// Whether the next base may have what this one has not given.
bool makes_way(ErrorKind kind) { return kind == ErrorKind::network || kind == ErrorKind::not_found; }

}  // namespace

Error damaged_archive(std::string_view component, const std::string& from, std::string_view expected,
                      std::string_view found) {
  return Error{ErrorKind::integrity,
               fmt::format("component {} from {} is damaged or was exchanged", component, from),
               {},
               {fmt::format("expected sha256 {}", expected), fmt::format("found    sha256 {}", found),
                "if it happens again, tell whoever keeps that mirror"}};
}

ArchivePlace place_in_cache(const base::Path& cache, const base::Path& own_directory, const core::Archive& archive) {
  const std::string partial = archive.sha256 + ".part";
  return {cache / archive.sha256, cache / partial, own_directory / partial};
}

ArchiveFetcher::ArchiveFetcher(const std::vector<Source>& sources, Options options) : m_options(std::move(options)) {
  for (const Source& source : sources) m_bases.emplace_back().source = &source;
}

std::unique_ptr<ArchiveStream> ArchiveFetcher::begin(const core::Archive& archive, const ArchivePlace& place) {
  std::unique_ptr<ArchiveStream> stream(new ArchiveStream(*this, archive, place));
  stream->connect();
  return stream;
}

std::vector<Error> ArchiveFetcher::take_switches() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_switches, {});
}

std::optional<std::size_t> ArchiveFetcher::next(std::size_t from) {
  for (std::size_t i = from; i < m_bases.size(); ++i) {
    Base& base = m_bases[i];
    if (m_options.keep_going && !m_options.keep_going()) return std::nullopt;
    // That may take its time: without the lock.
    std::call_once(base.compared,
                   [&] { base.is_alike = i == 0 || !m_options.is_alike || m_options.is_alike(*base.source); });
    const std::lock_guard lock(m_mutex);
    if (base.is_alike && !base.is_down) return i;
  }
  return std::nullopt;
}

void ArchiveFetcher::leave(std::size_t base, const Error& reason) {
  const std::lock_guard lock(m_mutex);
  const bool is_known = m_bases[base].is_down;
  if (reason.kind == ErrorKind::network) m_bases[base].is_down = true;
  if (!is_known) m_switches.push_back(reason);
}

ArchiveStream::~ArchiveStream() {
  if (m_partial) m_partial->abandon();
}

bool ArchiveStream::open_kept() {
  m_file = base::Fd(::open(m_place.complete.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  m_is_kept = m_file && ::fstat(*m_file, &info) == 0 && S_ISREG(info.st_mode) &&
              static_cast<std::uint64_t>(info.st_size) == m_archive.size;
  if (!m_is_kept) m_file.reset();
  m_found = m_is_kept ? m_archive.size : 0;
  return m_is_kept;
}

// From the first base, beginning with m_base, that does not refuse at once.
void ArchiveStream::connect() {
  if (open_kept()) return;
  auto base = m_fetcher.next(m_base);
  if (!base)
    m_failure =
        Error{ErrorKind::network, fmt::format("cannot download {}: no mirror is left", m_archive.relative_path)};
  else
    connect_to(*base);
}

void ArchiveStream::connect_to(std::size_t base) {
  while (true) {
    m_base = base;
    auto opened = open_from(*m_fetcher.m_bases[base].source);
    m_failure = opened ? std::nullopt : std::optional(std::move(opened).error());
    if (!m_failure || !makes_way(m_failure->kind)) return;
    const auto other = m_fetcher.next(base + 1);
    if (!other) return;
    m_fetcher.leave(base, *m_failure);
    base = *other;
  }
}

Result<void> ArchiveStream::open_from(const Source& source) {
  CUDAENV_TRY(local, source.transport->open(m_archive.relative_path, m_archive.size));
  if (local) {
    m_file = std::move(*local);
    m_growing = nullptr;
    m_found = 0;
    return {};
  }
  if (!m_partial) CUDAENV_CHECK(take_partial());
  if (m_file) return {};
  m_partial->expect_from(source.location.shown());
  m_found = m_partial->found();
  m_growing = m_partial.get();
  if (m_partial->is_complete())
    m_partial->end({});
  else
    source.transport->begin(m_archive.relative_path, m_archive.size, m_partial);
  return {};
}

Result<void> ArchiveStream::take_partial() {
  // A cache that cannot be written, somebody else's perhaps, is no reason to do without the archive.
  const bool has_cache = base::make_directories(m_place.partial.parent_path()).has_value();
  CUDAENV_TRY(shared, has_cache ? PartialFile::open(m_place.partial, m_archive.size) : nullptr);
  if (!shared) {
    CUDAENV_TRY(own, PartialFile::create(m_place.own, m_archive.size));
    m_partial = std::move(own);
    m_is_own = true;
    return {};
  }
  // Whoever had it may have finished since we looked.
  if (open_kept())
    shared->remove();
  else
    m_partial = std::move(shared);
  return {};
}

Result<std::size_t> ArchiveStream::read(std::span<char> buffer) {
  while (true) {
    if (m_failure) return fail(*m_failure);
    if (m_file) return read_file(buffer);
    auto got = m_partial->read(m_at, buffer, m_fetcher.m_options.keep_going);
    if (got) {
      m_at += *got;
      return got;
    }
    m_failure = std::move(got).error();
    if (!makes_way(m_failure->kind)) continue;
    const auto other = m_fetcher.next(m_base + 1);
    if (!other) continue;
    m_fetcher.leave(m_base, *m_failure);
    connect_to(*other);
  }
}

Result<std::size_t> ArchiveStream::read_file(std::span<char> buffer) {
  if (m_fetcher.m_options.keep_going && !m_fetcher.m_options.keep_going())
    return fail(ErrorKind::interrupted, fmt::format("interrupted while reading {}", shown()));
  while (true) {
    const ssize_t got = ::pread(*m_file, buffer.data(), buffer.size(), static_cast<off_t>(m_at.load()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(base::file_error("read", shown(), errno));
    m_at += static_cast<std::uint64_t>(got);
    const bool is_right = got == 0 ? m_at == m_archive.size : m_at <= m_archive.size;
    if (!is_right) return fail(ErrorKind::integrity, fmt::format("{} changed while it was read", shown()));
    return static_cast<std::size_t>(got);
  }
}

Result<void> ArchiveStream::accept() {
  if (!m_partial) return {};
  const bool is_only_for_now = m_is_own && m_place.own.parent_path() != m_place.complete.parent_path();
  if (m_file || is_only_for_now) {
    m_partial->remove();
    return {};
  }
  CUDAENV_TRY(is_kept, m_partial->become(m_place.complete));
  if (!is_kept) m_partial->remove();
  return {};
}

Result<bool> ArchiveStream::begin_anew() {
  m_at = 0;
  if (m_is_kept) {
    if (::unlink(m_place.complete.c_str()) != 0 && errno != ENOENT)
      return fail(base::file_error("remove", m_place.complete, errno));
    m_is_kept = false;
    m_file.reset();
    connect();
    return true;
  }
  if (!m_partial) return false;
  const bool may_be_the_pieces = m_partial->is_pieced() || m_file;
  if (!may_be_the_pieces || std::exchange(m_was_cleared, true)) {
    m_partial->remove();
    return false;
  }
  m_file.reset();
  CUDAENV_CHECK(m_partial->clear());
  connect_to(m_base);
  return true;
}

std::uint64_t ArchiveStream::received() const {
  if (const PartialFile* partial = m_growing) return partial->offset();
  return std::max(m_found.load(), m_at.load());
}

std::string ArchiveStream::shown() const {
  if (m_is_kept) return base::escaped(m_place.complete.native());
  return m_fetcher.m_bases[m_base].source->location.shown(m_archive.relative_path);
}

}  // namespace cudaenv::redist
