// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/library_shim.hpp"

namespace cudaenv::elf {

struct PlannedFunction {
  std::string name;
  std::string version;  // empty: none
  bool is_default = true;
  bool is_weak = false;
  core::ShimAnswer answer = core::ShimAnswer::error;
};

// A library that the shim may stand for, by core::library_key, and which of the functions it does not have.
struct PlannedLibrary {
  std::uint64_t key = 0;
  std::vector<std::size_t> absent;
};

// What a library shim is to be like.
struct ShimPlan {
  std::string soname;
  std::string root;
  std::vector<std::string> needed;         // libraries to be loaded with it
  std::vector<std::string> preload;        // files to be opened before the library, where they lie beside it
  std::vector<PlannedFunction> functions;  // each name and version once
  std::vector<PlannedLibrary> libraries;
};

}  // namespace cudaenv::elf
