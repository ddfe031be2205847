// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/value.hpp"

namespace cudaenv::base {

// Parses one JSON document. Refuses a name that occurs twice in an object, nesting deeper than 64, objects of more than
// 10000 members and anything after the document; the error says where (byte).
[[nodiscard]] Result<Value> parse_json(std::string_view text);

// The document with an indent of two spaces and a newline at the end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_json(const Value& value);

}  // namespace cudaenv::base
