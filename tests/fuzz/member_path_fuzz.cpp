// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "redist/member_path.hpp"

// A member's name that is accepted stays below the directory it is unpacked into.
void fuzz(std::string_view bytes) {
  using namespace cudaenv::redist;
  const auto path = plain_member_path(bytes);
  if (!path) return;
  require(!path->starts_with('/') && !path->ends_with('/') && path->find("//") == std::string::npos);
  require(("/" + *path + "/").find("/../") == std::string::npos &&
          ("/" + *path + "/").find("/./") == std::string::npos);
}
