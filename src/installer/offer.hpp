// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/output.hpp"
#include "core/machine_facts.hpp"
#include "core/registry.hpp"
#include "core/spec.hpp"
#include "redist/source.hpp"

namespace cudaenv::installer {

// What a base has of what was asked for.
struct Offer {
  redist::Published published;
  core::Version release = {};             // the one of them that was asked for, if one was,
  redist::FetchedManifest manifest = {};  // and its manifest
};

// The answer of the first base that has one. One whose error makes way for the next leaves `sources`, with a warning;
// what is wrong with the last one is the error.
[[nodiscard]] Result<Offer> first_answer(std::vector<redist::Source>& sources, base::Output& output,
                                         const std::function<Result<Offer>(const redist::Source&)>& ask,
                                         const std::function<bool(const Error&)>& makes_way);

// That of the first base that answers and has what is wanted. One that is down, gone, broken or lacks it makes way for
// the next, with a warning, and leaves `sources`; what is wrong with the last one is the error. A manifest other than
// the published one is final. `machine`: for the spec `auto`, the one that the release is to be right for.
[[nodiscard]] Result<Offer> first_offer(std::vector<redist::Source>& sources, const std::optional<core::Spec>& wanted,
                                        const redist::AcceptedManifest& accepted, const core::Registry& registry,
                                        const core::MachineFacts* machine, base::Output& output);

// Whether a base whose answer is such an error makes way for the next one, and what is said of it then.
bool another_base_may_do(ErrorKind kind);
std::string next_mirror_warning(const Error& error, const redist::Source& source);

}  // namespace cudaenv::installer
