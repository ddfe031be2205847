// SPDX-License-Identifier: Apache-2.0
#include "redist/held_archives.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/interrupt.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {
namespace {

constexpr unsigned k_most_threads = 16;  // a disk or a network file system serves no more at once

Held damaged(std::string damage) { return {Holding::damaged, std::move(damage)}; }

Held examine(const ArchiveJob& job) {
  const base::Fd fd(::open(job.to.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return {};
  struct stat info;
  if (!fd || ::fstat(*fd, &info) != 0) return damaged(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return damaged("it is not a file");
  if (static_cast<std::uint64_t>(info.st_size) != job.archive.size)
    return damaged(fmt::format("{} bytes instead of {}", info.st_size, job.archive.size));
  const FileDigest digest = digest_of_file(*fd, [] { return !base::is_interrupted(); });
  if (digest.system_error != 0) return damaged(std::strerror(digest.system_error));
  if (digest.sha256 == job.archive.sha256) return {Holding::whole};
  return damaged("its sha256 is another one");
}

}  // namespace

Result<std::vector<Held>> examine(const std::vector<ArchiveJob>& jobs) {
  std::vector<Held> held(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t at = next++; at < jobs.size() && !base::is_interrupted(); at = next++)
      held[at] = examine(jobs[at]);
  };
  const std::size_t count =
      std::min<std::size_t>(std::clamp(std::thread::hardware_concurrency(), 1u, k_most_threads), jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (base::is_interrupted()) return fail(base::interrupted_error());
  return held;
}

}  // namespace cudaenv::redist
