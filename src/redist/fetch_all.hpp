// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "core/manifest.hpp"
#include "redist/source.hpp"

namespace cudaenv::redist {

// One archive and where it is to lie. The directory is there already.
struct ArchiveJob {
  std::string component;  // for messages
  core::Archive archive;
  base::Path to;
};

// Told what fetching does as it does it.
class FetchObserver {
 public:
  virtual ~FetchObserver() = default;
  // An archive is taken from the next source because of this.
  virtual void switching(const Error& reason) = 0;
  virtual void started(const ArchiveJob& job) = 0;
  virtual void received(const ArchiveJob& job, std::uint64_t bytes) = 0;
  virtual void finished(const ArchiveJob& job) = 0;
};

struct FetchTotals {
  std::size_t archives = 0;
  std::uint64_t bytes = 0;
};

// Fetches archives, several at once, and checks size and digest; until then each is `to` with ".part" at its end, which
// the next run goes on with, and then it takes the place of whatever is there, readable for everybody. An archive that
// is absent or cannot be reached at the first source is taken from the next one. The first error, or an interruption,
// ends it: what is finished by then stays. The observer is called by this thread alone.
[[nodiscard]] Result<FetchTotals> fetch_all(const std::vector<Source>& sources, const std::vector<ArchiveJob>& jobs,
                                            FetchObserver& observer);

}  // namespace cudaenv::redist
