// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "commands/run.hpp"
#include "commands/tools.hpp"

namespace cudaenv::commands {

Result<ExitCode> run(const WhenceOptions& options, App& app) {
  CUDAENV_CHECK(check_tool_name(options.tool));
  CUDAENV_TRY(names, toolkits_with(app, options.tool));
  if (names.empty())
    return fail(ErrorKind::not_found, fmt::format("no installed toolkit has {}", base::escaped(options.tool)),
                similar_tools(app, options.tool, "cudaenv whence "));
  for (const std::string& name : names) app.output.data(name + "\n");
  return ExitCode::done;
}

}  // namespace cudaenv::commands
