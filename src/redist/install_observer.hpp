// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "core/component_plan.hpp"

namespace cudaenv::redist {

// How far a component is that is being installed. Bytes are those of its archive.
struct ComponentProgress {
  const core::PlannedComponent* component;
  std::uint64_t received = 0;  // here by now, what an earlier run had fetched included
  std::uint64_t unpacked = 0;  // decoded
};

// How far an installation is. Bytes are those of archives.
struct InstallProgress {
  std::vector<ComponentProgress> running;  // in the order in which they were begun
  std::size_t finished = 0;                // components
  std::size_t count = 0;
  std::uint64_t to_fetch = 0;  // of what has to come over the network in this run
  std::uint64_t received = 0;  // of that, here by now
  std::uint64_t total = 0;     // of all archives that are unpacked
  std::uint64_t unpacked = 0;
};

// fetched: over the network; kept: its archive was here; shared: linked from a toolkit that is installed
enum class ComponentOrigin { fetched, kept, shared };

// Told what an installation does as it does it, all on the thread that called install().
class InstallObserver {
 public:
  virtual ~InstallObserver() = default;
  virtual void waiting_for(long process) = 0;
  virtual void switching(const Error& reason) = 0;  // an archive is taken from the next base because of this
  virtual void progressed(const InstallProgress& progress) = 0;  // some ten times a second
  virtual void finished(const core::PlannedComponent& component, ComponentOrigin origin) = 0;
  virtual void stopping() = 0;  // asked to end: what is half done is removed now
};

}  // namespace cudaenv::redist
