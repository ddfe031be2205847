// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a function answers that has no library behind it: an error, in the form in which its caller expects one.

#include "core/library_shim.hpp"
#include "raw/syscalls.hpp"
#include "table.hpp"

namespace cudaenv::cudart {

enum class Reason { refused, missing };

inline constexpr int k_no_command = 127;  // as the loader ends a program

inline void print(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  raw::SystemCalls::write(2, text, size);
}

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

// Why was told when the function was looked for, and before it when the library was refused, maybe long ago.
[[noreturn]] inline void end_as_missing() { raw::SystemCalls::exit(k_no_command); }
[[noreturn]] inline void end_as_refused() {
  print(refusal());
  print("\n");
  raw::SystemCalls::exit(k_no_command);
}

}  // namespace answers

inline void* answer_of(core::ShimAnswer answer, Reason reason) {
  const bool is_refused = reason == Reason::refused;
  switch (answer) {
    case core::ShimAnswer::error: break;
    case core::ShimAnswer::text: return reinterpret_cast<void*>(is_refused ? answers::refusal : answers::missing_text);
    case core::ShimAnswer::handle: return reinterpret_cast<void*>(answers::handle);
    case core::ShimAnswer::channel: return reinterpret_cast<void*>(answers::channel);
    case core::ShimAnswer::end:
      return reinterpret_cast<void*>(is_refused ? answers::end_as_refused : answers::end_as_missing);
  }
  return reinterpret_cast<void*>(is_refused ? answers::refused_error : answers::missing_error);
}

}  // namespace cudaenv::cudart
