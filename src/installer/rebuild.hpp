// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "commands/app.hpp"
#include "installer/products.hpp"
#include "redist/installer.hpp"
#include "store/toolkits.hpp"

namespace cudaenv::installer {

// What becomes of an installed toolkit of the own root.
struct Change {
  std::vector<PlannedProduct> add = {};  // in the place of older versions
  std::vector<std::string> remove = {};  // products
  std::vector<redist::Source> bases =
      {};               // repair: what is not as it was installed is fetched from them; else it stays
  std::string command;  // to type again, for hints
};

// Makes the toolkit's tree anew beside it, and exchanges the two in one step:
//
// - waits for whoever works on the toolkit, and reads the receipt again: what another process has added meanwhile
//   stays. ErrorKind::not_installed if the toolkit has gone, ErrorKind::integrity if the receipt is another toolkit's;
// - links what stays, unread unless it is to be repaired: the toolkit itself, and every product that is neither removed
//   nor added in another version. What cudaenv makes itself (links, version.json, .pc) is made anew, so that nothing of
//   a product that went is left. What somebody has put into the tree is kept;
// - fetches what is missing, each from its own product's sources.
//
// Until the exchange nothing of the toolkit is changed, and if it is not reached nothing is left but archives in the
// cache. The old tree is removed once nothing runs from it. The caller brings the shims up to date.
[[nodiscard]] Result<redist::InstallOutcome> rebuild(commands::App& app, const store::Toolkit& toolkit, Change change);

}  // namespace cudaenv::installer
