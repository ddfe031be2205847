// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "base/toml.hpp"

void fuzz(std::string_view bytes) {
  const auto value = cudaenv::base::parse_toml(bytes);
  require(!value || value->as_object() != nullptr);
}
