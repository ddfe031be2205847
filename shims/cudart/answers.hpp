// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a function answers that has no library behind it: an error, in the form in which its caller expects one.

#include "core/library_shim.hpp"
#include "table.hpp"

namespace cudaenv::cudart {

enum class Reason { refused, missing };

namespace answers {

// cudaErrorSharedObjectInitFailed and cudaErrorSharedObjectSymbolNotFound
inline int refused_error() { return 303; }
inline int missing_error() { return 302; }
inline const char* refusal() { return string(cudaenv_table.refusal); }
inline const char* missing_text() { return "the selected CUDA toolkit does not have this function"; }

inline void* handle() { return stub(0); }  // only ever handed back

struct Channel {
  int bits[4];
  int kind;
};
inline Channel channel() { return {}; }

}  // namespace answers

inline void* answer_of(core::ShimAnswer answer, Reason reason) {
  const bool is_refused = reason == Reason::refused;
  switch (answer) {
    case core::ShimAnswer::error: break;
    case core::ShimAnswer::text: return reinterpret_cast<void*>(is_refused ? answers::refusal : answers::missing_text);
    case core::ShimAnswer::handle: return reinterpret_cast<void*>(answers::handle);
    case core::ShimAnswer::channel: return reinterpret_cast<void*>(answers::channel);
  }
  return reinterpret_cast<void*>(is_refused ? answers::refused_error : answers::missing_error);
}

}  // namespace cudaenv::cudart
