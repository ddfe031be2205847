// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/output.hpp"
#include "core/registry.hpp"
#include "registry/load.hpp"
#include "store/roots.hpp"

namespace cudaenv::commands {

// The registry in force: the built-in tables, with those of ROOT/registry/*.toml that are newer in their place. Read
// when first asked for, so that a command that needs no facts pays nothing. Files that are not valid are told once
// and passed over.
class Facts {
 public:
  Facts(const store::Roots& roots, base::Output& output) : m_roots(roots), m_output(output) {}

  const core::Registry& registry();

 private:
  const store::Roots& m_roots;
  base::Output& m_output;
  const core::Registry* m_registry = nullptr;
  std::unique_ptr<registry::OwnedRegistry> m_newer;
};

}  // namespace cudaenv::commands
