// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "core/registry.hpp"
#include "core/spec.hpp"

namespace cudaenv::core {

// The release to install for a spec: the newest of those published that it stands for; `auto` and `latest` are the
// newest of all, previews left out. ErrorKind::not_found says which of the ways to be wrong it is: a component's number
// (12.4.131), a minor that was never released (12.7), a release from before the archives (11.2), or one that this base
// lacks.
[[nodiscard]] Result<Version> choose_release(const Spec& spec, const std::vector<Version>& published,
                                             const Registry& registry);

// The newest release that the registry knows a number, or `latest`, to stand for, previews left out unless one is asked
// for by its whole number; nothing for other specs, or if it knows none.
std::optional<Version> newest_known(const Spec& spec, const Registry& registry);

// What is wrong with a number that no release can fit, whatever is installed or published; nothing if the registry
// has no objection. ErrorKind::not_found.
std::optional<Error> mistaken_number(const Spec& spec, const Registry& registry);

}  // namespace cudaenv::core
