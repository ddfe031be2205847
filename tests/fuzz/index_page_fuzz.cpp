// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "redist/index_page.hpp"

void fuzz(std::string_view bytes) {
  for (const std::string& name : cudaenv::redist::linked_names(bytes))
    require(!name.empty() && name.find('/') == std::string::npos);
}
