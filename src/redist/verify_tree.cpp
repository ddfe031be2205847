// SPDX-License-Identifier: Apache-2.0
#include "redist/verify_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "core/selection_types.hpp"
#include "redist/digest.hpp"

// First the tree is walked once, no link followed, so that what stands below a directory that has become a link is seen
// as what it is. What size and mode do not tell apart is then read, the largest files first.

namespace cudaenv::redist {
namespace {

constexpr std::chrono::milliseconds k_between_reports{100};
constexpr mode_t k_mode_bits = 07777;

using Found = std::map<std::string, struct stat, std::less<>>;  // files, links and the like by path
using KeepGoing = std::function<bool()>;
using OnProgress = std::function<void(std::uint64_t, std::uint64_t)>;

Result<void> walk(const base::Path& root, const std::string& below, const KeepGoing& keep_going, Found& found,
                  std::vector<FaultyFile>& faulty) {
  if (!keep_going()) return fail(base::interrupted_error());
  auto names = base::list_directory(root / below);
  if (!names) {
    if (below.empty()) return fail(std::move(names).error());
    faulty.push_back({below, FileFault::unreadable, names.error().message});
    return {};
  }
  for (const std::string& name : *names) {
    const std::string path = below.empty() ? name : below + "/" + name;
    struct stat info;
    if (::lstat((root / path).c_str(), &info) != 0) continue;  // gone since it was listed
    if (S_ISDIR(info.st_mode))
      CUDAENV_CHECK(walk(root, path, keep_going, found, faulty));
    else
      found.emplace(path, info);
  }
  return {};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISLNK(mode)) return "a link";
  return "neither a file nor a link";
}

// The directory above it that is none any more; empty if there is no such.
std::string displaced_parent(const std::string& path, const Found& found) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (const std::string parent = path.substr(0, slash); found.contains(parent)) return parent;
  return {};
}

// The files that have to be read, by as many threads as are wanted; each takes the next one when it is done.
class Hashing {
 public:
  Hashing(const base::Path& toolkit, std::vector<const store::ReceiptFile*> files, const KeepGoing& keep_going)
      : m_toolkit(toolkit), m_files(std::move(files)), m_keep_going(keep_going) {
    std::stable_sort(m_files.begin(), m_files.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
    for (const store::ReceiptFile* file : m_files) m_total += file->size;
  }

  void run(unsigned threads, const OnProgress& on_progress) {
    const std::size_t count = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(m_files.size(), 1));
    std::vector<std::jthread> workers;
    m_working = count;
    for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    std::unique_lock lock(m_mutex);
    while (!m_changed.wait_for(lock, k_between_reports, [this] { return m_working == 0; })) {
      lock.unlock();
      on_progress(m_hashed, m_total);
      lock.lock();
    }
  }

  std::vector<FaultyFile> take_faulty() { return std::move(m_faulty); }
  std::uint64_t hashed() const { return m_hashed; }

 private:
  void work() {
    while (m_keep_going()) {
      const std::size_t at = m_next++;
      if (at >= m_files.size()) break;
      if (auto fault = fault_of(*m_files[at])) {
        const std::scoped_lock lock(m_mutex);
        m_faulty.push_back(std::move(*fault));
      }
    }
    const std::scoped_lock lock(m_mutex);
    --m_working;
    m_changed.notify_one();
  }

  std::optional<FaultyFile> fault_of(const store::ReceiptFile& file) {
    const base::Fd fd(
        ::open((m_toolkit / file.path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    FileDigest digest;
    if (fd)
      digest = digest_of_file(*fd, m_keep_going, [this](std::size_t bytes) { m_hashed += bytes; });
    else
      digest.system_error = errno;
    if (digest.system_error == ENOENT) return FaultyFile{file.path, FileFault::missing, {}};
    if (digest.system_error != 0)
      return FaultyFile{file.path, FileFault::unreadable, std::strerror(digest.system_error)};
    if (digest.sha256 == file.sha256 || !m_keep_going()) return std::nullopt;
    return FaultyFile{file.path, FileFault::content, "same size, other content"};
  }

  const base::Path m_toolkit;
  std::vector<const store::ReceiptFile*> m_files;
  const KeepGoing& m_keep_going;
  std::uint64_t m_total = 0;
  std::atomic<std::size_t> m_next = 0;
  std::atomic<std::uint64_t> m_hashed = 0;
  std::mutex m_mutex;  // of what follows
  std::condition_variable m_changed;
  std::size_t m_working = 0;
  std::vector<FaultyFile> m_faulty;
};

// What can be told of a file without reading it; `must_be_read` if that is not all.
void compare(const store::ReceiptFile& file, const Found& found, std::vector<FaultyFile>& faulty,
             const base::Path& toolkit, bool& must_be_read) {
  const auto at = found.find(file.path);
  const bool is_link = !file.target.empty();
  if (at == found.end()) {
    if (const std::string parent = displaced_parent(file.path, found); !parent.empty())
      faulty.push_back({file.path, FileFault::displaced, fmt::format("{} is no directory", base::escaped(parent))});
    else if (base::entry_kind(toolkit / file.path) == base::EntryKind::directory)
      faulty.push_back({file.path, FileFault::displaced, "a directory in its place"});
    else
      faulty.push_back({file.path, FileFault::missing, {}});
    return;
  }
  const struct stat& info = at->second;
  if (is_link ? !S_ISLNK(info.st_mode) : !S_ISREG(info.st_mode)) {
    faulty.push_back({file.path, FileFault::displaced, fmt::format("{} in its place", kind_of(info.st_mode))});
    return;
  }
  if (is_link) {
    const auto target = base::link_target(toolkit / file.path);
    if (!target || target->native() != file.target)
      faulty.push_back({file.path, FileFault::target,
                        fmt::format("to {}, not {}", target ? base::escaped(target->native()) : "nothing readable",
                                    base::escaped(file.target))});
    return;
  }
  if (const mode_t mode = info.st_mode & k_mode_bits; mode != file.mode)
    faulty.push_back({file.path, FileFault::mode, fmt::format("{:04o}, not {:04o}", mode, file.mode)});
  const auto size = static_cast<std::uint64_t>(info.st_size);
  must_be_read = size == file.size;
  if (!must_be_read)
    faulty.push_back({file.path, FileFault::content, fmt::format("{} bytes, not {}", size, file.size)});
}

// What was found that the receipt does not know. A file in the place of a directory has been told of already.
std::vector<std::string> extra_files(const Found& found, const store::Receipt& receipt) {
  std::vector<std::string> known{std::string(core::k_receipt_name)};
  for (const store::ReceiptFile& file : receipt.files) known.push_back(file.path);
  std::sort(known.begin(), known.end());
  std::vector<std::string> extra;
  for (const auto& [path, info] : found) {
    if (std::binary_search(known.begin(), known.end(), path)) continue;
    const auto below = std::lower_bound(known.begin(), known.end(), path + "/");
    if (below == known.end() || !below->starts_with(path + "/")) extra.push_back(path);
  }
  return extra;
}

}  // namespace

std::string_view to_text(FileFault fault) {
  switch (fault) {
    case FileFault::missing: return "missing";
    case FileFault::content: return "changed";
    case FileFault::mode: return "mode";
    case FileFault::target: return "link";
    case FileFault::displaced: return "displaced";
    case FileFault::unreadable: return "unreadable";
  }
  return "";
}

std::size_t TreeReport::faulty_files() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < faulty.size(); ++i) count += i == 0 || faulty[i].path != faulty[i - 1].path ? 1 : 0;
  return count;
}

Result<TreeReport> compare_with_receipt(const base::Path& toolkit, const store::Receipt& receipt, unsigned threads,
                                        const KeepGoing& keep_going, const OnProgress& on_progress) {
  TreeReport report;
  Found found;
  CUDAENV_CHECK(walk(toolkit, "", keep_going, found, report.faulty));
  std::vector<const store::ReceiptFile*> to_read;
  for (const store::ReceiptFile& file : receipt.files) {
    bool must_be_read = false;
    compare(file, found, report.faulty, toolkit, must_be_read);
    if (must_be_read) to_read.push_back(&file);
  }
  Hashing hashing(toolkit, std::move(to_read), keep_going);
  hashing.run(threads, on_progress);
  if (!keep_going()) return fail(base::interrupted_error());
  std::vector<FaultyFile> changed = hashing.take_faulty();
  report.faulty.insert(report.faulty.end(), std::make_move_iterator(changed.begin()),
                       std::make_move_iterator(changed.end()));
  std::stable_sort(report.faulty.begin(), report.faulty.end(),
                   [](const FaultyFile& a, const FaultyFile& b) { return a.path < b.path; });
  report.extra = extra_files(found, receipt);
  report.file_count = receipt.files.size();
  report.hashed = hashing.hashed();
  return report;
}

}  // namespace cudaenv::redist
