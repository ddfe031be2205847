// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/environment.hpp"
#include "base/result.hpp"
#include "commands/app.hpp"
#include "commands/gate.hpp"
#include "core/env_plan.hpp"
#include "store/selected.hpp"

namespace cudaenv::commands {

// The plan that turns the present environment into that of the selection, if the gate lets it pass.
[[nodiscard]] Result<core::EnvPlan> plan_activation(App& app, const store::Selected& selected, const Passage& passage);

// The same for another environment than the present one.
[[nodiscard]] Result<core::EnvPlan> plan_activation(App& app, const store::Selected& selected, const Passage& passage,
                                                    const base::Environment& environment);

// The plan that takes any toolkit of ours out of the present environment.
[[nodiscard]] core::EnvPlan plan_leaving(const App& app);

}  // namespace cudaenv::commands
