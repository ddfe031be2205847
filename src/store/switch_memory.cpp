// SPDX-License-Identifier: Apache-2.0
#include "store/switch_memory.hpp"

#include <memory>
#include <string>

#include <unistd.h>

#include "base/files.hpp"
#include "core/switch_key.hpp"
#include "store/posix_system.hpp"

namespace cudaenv::store {
namespace {

constexpr std::size_t k_most_kept = 64;

// Each set of variables leaves a file for each toolkit. They are cheap to make again.
void remove_all_if_many(const base::Path& directory) {
  const auto names = base::list_directory(directory);
  if (!names || names->size() < k_most_kept) return;
  const std::string_view start = core::k_kept_switch_start.substr(1);
  for (const std::string& name : *names)
    if (name.starts_with(start)) ::unlink((directory / name).c_str());
}

}  // namespace

Result<void> keep_switch(const Roots& roots, std::string_view shell, const base::Path& program,
                         const Selected& selected, std::string_view text) {
  PosixSystem system;
  const core::Roots searched = roots.for_selection();
  const auto key = std::make_unique<core::SwitchKey<PosixSystem>>(system, searched);
  const auto record = std::make_unique<core::GateRecord<PosixSystem>>(system, searched);
  core::PathText place;
  if (!key->make(shell, program.c_str(), selected.view()) || !key->find_place(*record, place)) return {};
  const std::string content = std::string(key->text()) + std::string(text);
  if (content.size() >= core::k_largest_kept_switch) return {};
  const base::Path file(place.view());
  remove_all_if_many(file.parent_path());
  return base::write_file(file, content, 0600, base::Durable::no);
}

}  // namespace cudaenv::store
