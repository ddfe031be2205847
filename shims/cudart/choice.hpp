// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudaenv::cudart {

enum class ChoiceStatus { not_made, library, refused };

// Which library the shim stands for in this process. Made once, when the loader relocates the shim, and kept for the
// life of the process, whatever becomes of its directory and its environment.
struct Choice {
  ChoiceStatus status;
  std::uint64_t key;  // core::library_key of the library
  const char* path;   // of the library; goes with forget_path()
  void* memory;       // that the path lies in
};

const Choice& choice();

// Makes it: by the run path of whoever asked for the shim, else by what the project selects. In the case of a
// refusal `refusal` holds the words for it, without a line end, cut to its size. By system calls alone.
void choose(char* refusal, std::size_t size);

// Gives back the memory that the path lies in.
void forget_path();

}  // namespace cudaenv::cudart
