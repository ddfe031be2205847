// SPDX-License-Identifier: Apache-2.0
#include "store/disk_use.hpp"

#include <map>
#include <set>
#include <utility>

#include <sys/stat.h>

namespace cudaenv::store {
namespace {

// A file with several links.
struct Linked {
  std::uint64_t bytes = 0;
  nlink_t links = 0;  // that there are,
  nlink_t found = 0;  // and in the tree
};

using Identity = std::pair<dev_t, ino_t>;

struct Walked {
  std::uint64_t single = 0;  // bytes of what has one link
  std::map<Identity, Linked> linked;
};

Result<void> walk(const base::Path& path, Walked& walked) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return {};  // gone meanwhile
  const auto bytes = static_cast<std::uint64_t>(info.st_blocks) * 512;
  if (!S_ISDIR(info.st_mode) && info.st_nlink > 1) {
    Linked& linked = walked.linked[{info.st_dev, info.st_ino}];
    linked.bytes = bytes;
    linked.links = info.st_nlink;
    ++linked.found;
    return {};
  }
  walked.single += bytes;
  if (!S_ISDIR(info.st_mode)) return {};
  CUDAENV_TRY(names, base::list_directory(path));
  for (const std::string& name : names) CUDAENV_CHECK(walk(path / name, walked));
  return {};
}

}  // namespace

Result<DiskUses> disk_uses(std::span<const base::Path> trees) {
  std::vector<Walked> all;
  std::map<Identity, int> having;  // how many trees
  for (const base::Path& tree : trees) {
    CUDAENV_CHECK(walk(tree, all.emplace_back()));
    for (const auto& [identity, linked] : all.back().linked) ++having[identity];
  }
  DiskUses uses;
  std::set<Identity> counted;
  for (const Walked& walked : all) {
    DiskUse use{walked.single, 0};
    uses.total += walked.single;
    for (const auto& [identity, linked] : walked.linked) {
      if (linked.found == linked.links) use.own += linked.bytes;
      if (having[identity] > 1) use.shared += linked.bytes;
      if (counted.insert(identity).second) uses.total += linked.bytes;
    }
    uses.trees.push_back(use);
  }
  return uses;
}

}  // namespace cudaenv::store
