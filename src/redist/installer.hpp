// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_lock.hpp"
#include "base/result.hpp"
#include "core/component_plan.hpp"
#include "core/version.hpp"
#include "redist/install_observer.hpp"
#include "redist/source.hpp"
#include "store/receipt.hpp"
#include "store/roots.hpp"
#include "store/staging.hpp"

namespace cudaenv::redist {

// Where the toolkit, or a product in it, comes from.
struct Origin {
  std::vector<Source> sources;  // the one that the manifest is from first; empty: nothing can be fetched
  std::string version;          // as in the manifest's name
  std::string manifest_sha256;
  std::string shown;  // base of the archives, without credentials
};

struct InstallRequest {
  core::Version release;
  std::string platform;
  core::ComponentChoice choice;
  std::map<std::string, Origin, std::less<>> origins;  // by product; the toolkit itself has no name
  bool replace = false;                                // put the new tree in the place of the old one
  // Of the tree that is replaced: what no component brought is kept, and for `extends` what is in its receipt linked
  // unread.
  bool keeps_additions = false;
  bool extends = false;
  bool keeps_archives = false;  // after the end
  unsigned jobs = 0;            // components at once; 0: one for each core
  std::string command;          // what was typed, for hints
};

struct InstallOutcome {
  std::optional<store::Receipt> found = std::nullopt;  // another process had finished it meanwhile: nothing was done
  std::uint64_t file_count = 0;
  std::uint64_t installed_size = 0;                       // bytes, of them
  std::uint64_t shared_size = 0;                          // are another toolkit's too
  std::uint64_t fetched = 0;                              // bytes of archives
  std::optional<store::Staging> replaced = std::nullopt;  // holds the tree that stood there
};

// The place of a toolkit while one process works on it: a staging directory, and the lock that keeps others away.
struct Site {
  store::Staging staging;
  base::FileLock lock;
};
// Waits for whoever has it, telling `on_wait` the process id (0: unknown), and removes what dead ones left.
[[nodiscard]] Result<Site> open_site(const store::Root& root, const std::string& name,
                                     const std::function<void(long)>& on_wait);

// Downloads, verifies, unpacks, merges and commits a toolkit, as much at once as there are jobs. Until the last rename
// nothing of it is visible; if that is not reached only the archives stay, in the root's cache, for the next time.
// ErrorKind::filesystem up front if there is not room enough. What another toolkit of the root has is linked.
// The manifest is that of the first source. An archive that is absent or cannot be reached there is taken from the next
// one that has the same manifest; one that differs from the manifest is final.
[[nodiscard]] Result<InstallOutcome> install_at(Site site, const core::ComponentPlan& plan,
                                                const InstallRequest& request, const store::Root& root,
                                                InstallObserver& observer);

// The same with a site of its own, unless the toolkit is there by then.
[[nodiscard]] Result<InstallOutcome> install(const core::ComponentPlan& plan, const InstallRequest& request,
                                             const store::Root& root, InstallObserver& observer);

}  // namespace cudaenv::redist
