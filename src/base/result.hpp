// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "base/error_kind.hpp"

namespace cudaenv {

// One failure, told once to a person. `message` names the subject and says what failed, `details` why
// (one line each, may be empty), `hint` is something to type.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string hint = {};
  std::vector<std::string> details = {};

  // Adds a line of context; the error goes on travelling up.
  Error&& during(std::string line) && {
    details.push_back(std::move(line));
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {},
                                  std::vector<std::string> details = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(hint), std::move(details)});
}

}  // namespace cudaenv

// Binds `name` to the value of a Result, or returns its error from the enclosing function.
#define CUDAENV_TRY(name, expression)                                                    \
  auto name##_or = (expression);                                                         \
  if (!name##_or) return tl::unexpected<::cudaenv::Error>(std::move(name##_or).error()); \
  auto& name = *name##_or

// The same for a Result<void>.
#define CUDAENV_CHECK(expression)                                                                                      \
  do {                                                                                                                 \
    if (auto checked_ = (expression); !checked_) return tl::unexpected<::cudaenv::Error>(std::move(checked_).error()); \
  } while (false)
