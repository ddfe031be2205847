// SPDX-License-Identifier: Apache-2.0
#include "commands/facts.hpp"

#include <fmt/format.h>

#include "registry/builtin.hpp"

namespace cudaenv::commands {
namespace {

Result<registry::Files> newer_files(const store::Root& root) {
  registry::Files files;
  CUDAENV_TRY(names, base::list_directory(root.registry()));
  for (const std::string& name : names) {
    if (!name.ends_with(".toml")) continue;
    CUDAENV_TRY(text, base::read_file(root.registry() / name));
    if (text) files.emplace(name, std::move(*text));
  }
  return files;
}

Result<std::unique_ptr<registry::OwnedRegistry>> load_from(const store::Root& root) {
  CUDAENV_TRY(files, newer_files(root));
  if (files.empty()) return nullptr;
  return registry::load_over(registry::builtin(), files);
}

}  // namespace

const core::Registry& Facts::registry() {
  if (m_registry) return *m_registry;
  m_registry = &registry::builtin();
  for (const store::Root* root : m_roots.both()) {
    auto loaded = load_from(*root);
    if (!loaded) {
      m_output.warning(fmt::format("{} is not used: {}", root->registry().native(), loaded.error().message));
    } else if (*loaded) {
      m_newer = std::move(*loaded);
      m_registry = &m_newer->view();
      break;
    }
  }
  return *m_registry;
}

}  // namespace cudaenv::commands
