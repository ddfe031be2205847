// SPDX-License-Identifier: Apache-2.0
#include "commands/facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "registry/builtin.hpp"

namespace cudaenv::commands {
namespace {

bool is_registry_file(const std::string& name) {
  const auto& names = registry::k_file_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<registry::Files> files_of(const store::Root& root, base::Output& output) {
  registry::Files files;
  CUDAENV_TRY(names, base::list_directory(root.registry()));
  for (const std::string& name : names) {
    if (!name.ends_with(".toml")) continue;
    if (!is_registry_file(name)) {
      output.warning(fmt::format("{} is ignored: expected one of {}", base::escaped((root.registry() / name).native()),
                                 fmt::join(registry::k_file_names, ", ")));
      continue;
    }
    CUDAENV_TRY(text, base::read_file(root.registry() / name));
    if (text) files.emplace(name, std::move(*text));
  }
  return files;
}

// Null if the root has no file that is newer than the built-in tables.
Result<std::unique_ptr<registry::OwnedRegistry>> load_from(const store::Root& root, base::Output& output) {
  CUDAENV_TRY(files, files_of(root, output));
  if (files.empty()) return nullptr;
  CUDAENV_TRY(loaded, registry::load_over(registry::builtin(), files));
  if (loaded->passed_over().size() == files.size()) return nullptr;
  return std::move(loaded);
}

}  // namespace

const core::Registry& Facts::registry() {
  if (m_registry) return *m_registry;
  m_registry = &registry::builtin();
  for (const store::Root* root : m_roots.both()) {
    auto loaded = load_from(*root, m_output);
    if (!loaded) {
      m_output.warning(
          fmt::format("{} is not used: {}", base::escaped(root->registry().native()), loaded.error().message));
    } else if (*loaded) {
      m_newer = std::move(*loaded);
      m_registry = &m_newer->view();
      break;
    }
  }
  return *m_registry;
}

}  // namespace cudaenv::commands
