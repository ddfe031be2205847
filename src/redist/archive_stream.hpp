// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "core/manifest.hpp"
#include "redist/partial_file.hpp"
#include "redist/source.hpp"

namespace cudaenv::redist {

// Where an archive is kept.
struct ArchivePlace {
  base::Path complete;  // once its digest was right; nothing else ever has that name
  base::Path partial;   // while it grows: shared with other processes, by one at a time
  base::Path own;       // where it grows if another process has `partial`: in a directory of this process
};

// The places of an archive in ROOT/cache/archives.
ArchivePlace place_in_cache(const base::Path& cache, const base::Path& own_directory, const core::Archive& archive);

// The error for an archive that is not what the manifest says; `from`: what it was read from.
Error damaged_archive(std::string_view component, const std::string& from, std::string_view expected,
                      std::string_view found);

class ArchiveStream;

// Brings archives from the first base that has them. One that is down is not asked again; one that lacks an archive is,
// for the others. May be used by several threads.
class ArchiveFetcher {
 public:
  struct Options {
    std::function<bool(const Source&)> is_alike = {};  // whether a later base has the same manifest; nothing: all have
    std::function<bool()> keep_going = {};             // false interrupts everything
  };
  // `sources`: at least one; they must outlive the fetcher and its streams.
  ArchiveFetcher(const std::vector<Source>& sources, Options options);

  // Begins to bring an archive, and returns at once unless all bases are directories. What cannot be had is told by the
  // stream's first read.
  [[nodiscard]] std::unique_ptr<ArchiveStream> begin(const core::Archive& archive, const ArchivePlace& place);

  // Why bases were left for the next one since the last call.
  std::vector<Error> take_switches();

 private:
  friend class ArchiveStream;
  struct Base {
    const Source* source = nullptr;
    bool is_down = false;
    std::once_flag compared;
    bool is_alike = false;  // once compared
  };

  // The base to ask when those before `from` would not do.
  std::optional<std::size_t> next(std::size_t from);
  void leave(std::size_t base, const Error& reason);

  Options m_options;
  std::mutex m_mutex;
  std::deque<Base> m_bases;
  std::vector<Error> m_switches;
};

// The bytes of one archive, in order, from wherever they come. For one thread at a time, but for the counters.
class ArchiveStream {
 public:
  ~ArchiveStream();

  // Up to as many bytes as the buffer holds, waiting for them; 0 at the end. An error is final.
  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer);

  // The digest was right: what came over the network is now at place.complete.
  [[nodiscard]] Result<void> accept();
  // The digest was wrong: nothing of it stays. Whether it can be had anew, to be read from the beginning: where it was
  // not all from one answer of a server.
  [[nodiscard]] Result<bool> begin_anew();

  // By any thread. Bytes that are here, those of them that were here before, and those that have been read.
  std::uint64_t received() const;
  std::uint64_t found() const { return m_found; }
  std::uint64_t consumed() const { return m_at; }
  // From the beginning once more, after the end.
  void rewind() { m_at = 0; }
  // Whether it is read from where a source has it on this machine; accept() then leaves it there.
  bool is_local() const { return m_file && !m_is_kept; }
  // What it is read from, for messages.
  std::string shown() const;

 private:
  friend class ArchiveFetcher;
  ArchiveStream(ArchiveFetcher& fetcher, const core::Archive& archive, ArchivePlace place)
      : m_fetcher(fetcher), m_archive(archive), m_place(std::move(place)) {}

  void connect();
  void connect_to(std::size_t base);
  bool open_kept();
  Result<void> open_from(const Source& source);
  Result<void> take_partial();
  Result<std::size_t> read_file(std::span<char> buffer);

  ArchiveFetcher& m_fetcher;
  const core::Archive m_archive;
  const ArchivePlace m_place;
  std::size_t m_base = 0;
  std::optional<Error> m_failure;
  base::Fd m_file;  // a complete one
  bool m_is_kept = false;
  bool m_was_cleared = false;
  std::shared_ptr<PartialFile> m_partial;
  bool m_is_own = false;                                // and no other process goes on with it
  std::atomic<const PartialFile*> m_growing = nullptr;  // m_partial, while it is what is read
  std::atomic<std::uint64_t> m_found = 0;
  std::atomic<std::uint64_t> m_at = 0;
};

}  // namespace cudaenv::redist
