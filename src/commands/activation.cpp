// SPDX-License-Identifier: Apache-2.0
#include "commands/activation.hpp"

namespace cudaenv::commands {

Result<core::EnvPlan> plan_activation(App& app, const store::Selected& selected, const Passage& passage,
                                      const base::Environment& environment) {
  CUDAENV_TRY(settings, settings_for(app, selected));
  CUDAENV_CHECK(pass_gate(app, selected, settings, passage));
  core::EnvironmentSettings wanted;
  wanted.library_path = settings.library_path();
  wanted.compiler_paths = settings.is_on("env.compiler_paths");
  wanted.has_library_shims = base::directory_exists(app.roots.own.library_shims());
  std::optional<core::ActiveToolkit> toolkit;
  if (selected.is_toolkit()) {
    wanted.has_cccl_include = base::directory_exists(selected.directory / "include" / "cccl");
    toolkit = core::ActiveToolkit{selected.name, selected.directory.native(),
                                  base::executable_exists(selected.directory / "bin" / "nvcc")};
  }
  return core::plan_environment(environment, toolkit, app.roots.both_paths(), wanted);
}

Result<core::EnvPlan> plan_activation(App& app, const store::Selected& selected, const Passage& passage) {
  return plan_activation(app, selected, passage, app.environment);
}

core::EnvPlan plan_leaving(const App& app) {
  return core::plan_environment(app.environment, std::nullopt, app.roots.both_paths(), {});
}

}  // namespace cudaenv::commands
