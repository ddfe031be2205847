// SPDX-License-Identifier: Apache-2.0
#include "store/selected.hpp"

#include <cstring>
#include <memory>

#include "core/selection.hpp"
#include "core/selection_problem.hpp"
#include "store/posix_system.hpp"
#include "store/problem.hpp"

namespace cudaenv::store {
namespace {

// Keeps the warnings that a shim would swallow.
class RecordingSystem : public PosixSystem {
 public:
  void warn(const core::SelectionWarning& warning) {
    core::MessageText text;
    core::describe_warning(warning, text);
    m_warnings.emplace_back(text.view());
  }
  std::vector<std::string> take_warnings() { return std::move(m_warnings); }

 private:
  std::vector<std::string> m_warnings;
};

using ProgramSelector = core::Selector<RecordingSystem>;

ErrorKind kind_of(core::SelectionStatus status) {
  switch (status) {
    case core::SelectionStatus::not_installed: return ErrorKind::not_installed;
    case core::SelectionStatus::unreadable: return ErrorKind::filesystem;
    default: return ErrorKind::config;
  }
}

Selected owned(const core::Selection& selection, ProgramSelector& selector, RecordingSystem& system) {
  Selected selected;
  selected.status = selection.status;
  selected.origin = selection.origin.kind;
  selected.origin_path = selection.origin.path;
  selected.origin_line = selection.origin.line;
  selected.word = selection.origin.kind == core::OriginKind::none ? "system" : std::string(selection.word);
  selected.name = selection.name;
  selected.directory = std::string(selection.directory);
  if (selection.status != core::SelectionStatus::system && selection.status != core::SelectionStatus::selected) {
    core::ProblemText text;
    core::describe_problem(selection, selector, std::strerror(selection.system_error), text);
    selected.problem = to_error(kind_of(selection.status), text);
  }
  selected.warnings = system.take_warnings();
  return selected;
}

}  // namespace

std::string Selected::origin_text() const {
  core::PathText text;
  core::append_origin(text, core::Origin{origin, origin_path, origin_line});
  return std::string(text.view());
}

core::Selection Selected::view() const {
  core::Selection selection;
  selection.status = status;
  selection.origin = {origin, origin_path, origin_line};
  selection.word = word;
  selection.name = name;
  selection.directory = directory.native();
  return selection;
}

Selected current_selection(const Roots& roots, Look look) {
  RecordingSystem system;
  const core::Roots searched = roots.for_selection();
  const auto selector = std::make_unique<ProgramSelector>(system, searched);
  const core::Selection selection = look == Look::everywhere      ? selector->select()
                                    : look == Look::project_files ? selector->select_by_project()
                                                                  : selector->select_by_root();
  return owned(selection, *selector, system);
}

Selected select_spec(const Roots& roots, const core::Spec& spec) {
  RecordingSystem system;
  const core::Roots searched = roots.for_selection();
  const auto selector = std::make_unique<ProgramSelector>(system, searched);
  return owned(selector->resolve(spec, core::Origin{core::OriginKind::argument, {}, 0}), *selector, system);
}

}  // namespace cudaenv::store
