// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "commands/app.hpp"

namespace cudaenv::commands {

// Whether the text is the name of a shared library, as against a tool's: libcudart.so.13
bool is_library_name(std::string_view name);

// The library that a program linked against `soname` gets by a selection: the toolkit's, or the one that the loader
// finds by itself. ErrorKind::not_found, in the words of the library shims.
[[nodiscard]] Result<base::Path> find_library(const App& app, const store::Selected& selected, std::string_view soname);

}  // namespace cudaenv::commands
