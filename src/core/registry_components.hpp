// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/dotted_version.hpp"

namespace cudaenv::core {

// The facts of registry/components.toml and registry/products.toml: what can be in a toolkit.

enum class ComponentClass { compiler, headers, library, tool, big_tool, docs, compat, driver, windows };

// A component of NVIDIA's manifests; sorted by name.
struct ComponentRow {
  std::string_view name;
  ComponentClass component_class;
  bool in_minimal;                          // needed to compile and link a .cu file
  bool in_default;                          // profile `default`
  std::span<const std::string_view> needs;  // closure: components that must come along where the manifest has them
  std::string_view renamed_from;            // "cuda_cccl" for "cccl": either name means both
  std::string_view summary;                 // one line for a person
  std::string_view source;
};

// What `cudaenv add` can put into a toolkit; sorted by name.
struct ProductRow {
  std::string_view name;                   // cudnn
  std::span<const std::string_view> also;  // other names that people type
  std::string_view folder;  // of its manifests, .../compute/<folder>/redist/; several products may share it
  std::span<const std::string_view> components;  // of the manifest, those that it has
  std::string_view place;    // directory of the toolkit that holds all of it; empty: where each file belongs
  bool any_cuda;             // archives that are one for every CUDA fit all of them
  std::string_view summary;  // one line for a person
  std::string_view source;
};

// For which CUDA majors the archives of some versions were built, where they are one for all (flat manifests); sorted
// by product, then version. A version without a row: unknown.
struct FlatArchivesRow {
  std::string_view product;
  DottedVersion first;
  DottedVersion last;
  std::span<const std::uint16_t> majors;  // ascending
  bool in_lib;                            // the libraries for each major are in lib/<major>/
  std::string_view source;
};

// A manifest that is known; sorted by folder, then version.
struct ProductManifestRow {
  std::string_view folder;
  std::string_view version;  // as written in its name: 24.03.0
  std::string_view sha256;
  std::string_view source;
};

// What people ask for that has no manifest; sorted by name.
struct ElsewhereRow {
  std::string_view name;
  std::span<const std::string_view> also;
  std::string_view how;      // one line
  std::string_view command;  // to type; {major} stands for that of the toolkit
  std::string_view source;
};

}  // namespace cudaenv::core
