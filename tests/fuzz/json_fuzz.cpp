// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

#include "base/json.hpp"

// What was read can be written and read again, with the same text.
void fuzz(std::string_view bytes) {
  using namespace cudaenv::base;
  const auto value = parse_json(bytes);
  if (!value) return;
  const std::string text = to_json(*value);
  const auto again = parse_json(text);
  require(again.has_value() && to_json(*again) == text);
}
