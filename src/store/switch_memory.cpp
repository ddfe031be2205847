// SPDX-License-Identifier: Apache-2.0
#include "store/switch_memory.hpp"

#include <algorithm>
#include <memory>

#include <unistd.h>

#include "core/switch_key.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::store {
namespace {

constexpr std::ptrdiff_t k_most_kept = 64;

// Each set of variables leaves a file for each toolkit. They are cheap to make again.
void remove_all_if_many(const base::Path& directory) {
  const auto names = base::list_directory(directory);
  if (!names) return;
  const auto is_kept = [](const std::string& name) { return name.starts_with(core::k_kept_switch_start.substr(1)); };
  if (std::count_if(names->begin(), names->end(), is_kept) < k_most_kept) return;
  for (const std::string& name : *names)
    if (is_kept(name)) ::unlink((directory / name).c_str());
}

}  // namespace

SwitchMemory::SwitchMemory(const Roots& roots, std::string_view shell, const base::Path& program,
                           const Selected& selected) {
  PosixSystem system;
  const core::Roots searched = roots.for_selection();
  const auto key = std::make_unique<core::SwitchKey<PosixSystem>>(system, searched);
  core::PathText name;
  if (selected.is_toolkit()) core::GateCircumstances<PosixSystem>(system, searched).append_name(name);
  const std::string_view circumstances = name.view().substr(name.size() == 0 ? 0 : 1);  // without the slash
  core::PathText place;
  if (!key->make(shell, program.c_str(), circumstances, selected.view())) return;
  m_key = key->text();
  if (key->find_place(place)) m_place = place.view();
}

Result<void> SwitchMemory::keep(std::string_view text) const {
  if (m_place.empty()) return {};
  const std::string content = m_key + std::string(text) + std::string(core::k_kept_switch_end);
  if (content.size() >= core::k_largest_kept_switch) return {};
  if (!base::path_exists(m_place)) remove_all_if_many(m_place.parent_path());
  return base::write_file(m_place, content, 0600, base::Durable::no);
}

void SwitchMemory::forget() const {
  if (!m_place.empty()) ::unlink(m_place.c_str());
}

}  // namespace cudaenv::store
