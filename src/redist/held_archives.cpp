// SPDX-License-Identifier: Apache-2.0
#include "redist/held_archives.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/interrupt.hpp"
#include "redist/digest.hpp"

namespace cudaenv::redist {
namespace {

constexpr std::size_t k_block_size = std::size_t{1} << 20;
constexpr unsigned k_most_threads = 16;  // a disk or a network file system serves no more at once

Held damaged(std::string damage) { return {Holding::damaged, std::move(damage)}; }

Held examine(const ArchiveJob& job, std::string& block) {
  const base::Fd fd(::open(job.to.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return {};
  struct stat info;
  if (!fd || ::fstat(*fd, &info) != 0) return damaged(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return damaged("it is not a file");
  if (static_cast<std::uint64_t>(info.st_size) != job.archive.size)
    return damaged(fmt::format("{} bytes instead of {}", info.st_size, job.archive.size));
  Sha256 digest;
  while (!base::is_interrupted()) {
    const ssize_t got = ::read(*fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return damaged(std::strerror(errno));
    if (got == 0) break;
    digest.update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
  }
  if (digest.finish() == job.archive.sha256) return {Holding::whole};
  return damaged("its sha256 is another one");
}

}  // namespace

Result<std::vector<Held>> examine(const std::vector<ArchiveJob>& jobs) {
  std::vector<Held> held(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::string block(k_block_size, '\0');
    for (std::size_t at = next++; at < jobs.size() && !base::is_interrupted(); at = next++)
      held[at] = examine(jobs[at], block);
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
