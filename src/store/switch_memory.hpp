// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "store/roots.hpp"
#include "store/selected.hpp"

namespace cudaenv::store {

// What `env --hook` prints for a shell, kept beside the gate's records, so that cudaenv-hook can print it again as long
// as all that it was made from is the same (core/switch_key.hpp).
class SwitchMemory {
 public:
  // Of one switch. To be made before settings, toolkit and variables are read for it: what changes after that is
  // another switch. `program`: this one.
  SwitchMemory(const Roots& roots, std::string_view shell, const base::Path& program, const Selected& selected);

  // For what was let pass without a word. Nothing is kept where there is no place for the gate's records.
  [[nodiscard]] Result<void> keep(std::string_view text) const;
  // There is something to tell now, so the program has to be asked.
  void forget() const;

 private:
  std::string m_key;   // empty: too long
  base::Path m_place;  // empty: none
};

}  // namespace cudaenv::store
