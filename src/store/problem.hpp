// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "core/problem_text.hpp"

namespace cudaenv::store {

// The words that program and shims share, as the program's error.
inline Error to_error(ErrorKind kind, const core::ProblemText& text) {
  Error error{kind, std::string(text.message.view()), std::string(text.hint.view())};
  if (!text.detail.view().empty()) error.details.emplace_back(text.detail.view());
  return error;
}

}  // namespace cudaenv::store
