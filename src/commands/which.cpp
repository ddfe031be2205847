// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "commands/libraries.hpp"
#include "commands/run.hpp"
#include "commands/tools.hpp"
#include "core/shimmed_libraries.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const WhichOptions& options, App& app) {
  CUDAENV_CHECK(check_tool_name(options.tool));
  CUDAENV_TRY(chosen, selected_or_error(app, std::nullopt));
  if (is_library_name(options.tool)) {
    CUDAENV_TRY(path, find_library(app, chosen, options.tool));
    app.output.data(path.native() + "\n");
    // A program has no word for which it was given, and why.
    app.output.note(fmt::format("{}, {}", chosen.is_toolkit() ? chosen.name : chosen.word, chosen.origin_text()));
    const std::string_view reason = core::left_out_reason(options.tool);
    if (chosen.is_toolkit() && !reason.empty())
      app.output.note(
          fmt::format("{} has no library shim: {}; start the program by `cudaenv exec`, or set "
                      "env.library_path to \"toolkit\"",
                      options.tool, reason));
    return ExitCode::done;
  }
  CUDAENV_TRY(path, find_tool(app, chosen, options.tool));
  app.output.data(path.native() + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
