// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands/options.hpp"

// Ties the options of a command to the parser. For cli/parser alone.

namespace cudaenv::cli {

template <class T>
CLI::Option* option(CLI::App& app, const std::string& name, std::optional<T>& value, const std::string& help) {
  return app.add_option_function<T>(
      name, [&value](const T& typed) { value = typed; }, help);
}

// An option that may be repeated, or hold several values with commas between them.
void list_option(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& type,
                 const std::string& help);

// The commands that fetch, which have most of their options in common.
void bind(CLI::App& app, commands::InstallOptions& options);
void bind(CLI::App& app, commands::LockOptions& options);
void bind(CLI::App& app, commands::MirrorOptions& options);
void bind(CLI::App& app, commands::AddOptions& options);
void bind(CLI::App& app, commands::RemoveOptions& options);
void bind(CLI::App& app, commands::RepairOptions& options);

}  // namespace cudaenv::cli
