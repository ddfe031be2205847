// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <new>
#include <string_view>

#include "core/library_problem.hpp"
#include "core/root_search.hpp"
#include "core/selection.hpp"
#include "core/selection_problem.hpp"
#include "gate.hpp"
#include "one_toolkit.hpp"
#include "process.hpp"
#include "raw/error_text.hpp"
#include "run_path.hpp"
#include "system_library.hpp"
#include "table.hpp"

namespace cudaenv::cudart {

namespace {

constinit Choice made = {};

// Calls f(T&) with a T, made of `arguments`, that lasts no longer; its answer, or `otherwise` if there is no memory.
// The stack may be that of a small thread, and what is static would be paid for by every process for its whole life.
// What is seldom needed is apart from the rest, as every part that is made touches a page.
template <class T, class Answer, class F, class... Arguments>
Answer with_temporary(Answer otherwise, F f, Arguments&&... arguments) {
  void* memory = raw::SystemCalls::memory(sizeof(T));
  if (!memory) return otherwise;
  const Answer answer = f(*new (memory) T(arguments...));
  raw::SystemCalls::give_back(memory, sizeof(T));
  return answer;
}

// What choosing always needs.
struct Search {
  Search() : system(environment(), trust()), selector(system, roots), asker(requester()), run_path(asker) {}

  raw::RawSystem system;
  core::Roots roots;
  core::Selector<raw::RawSystem> selector;
  const link_map* asker;
  RunPath run_path;
  core::PathText path;
  char directory[4096];  // of the toolkit that `auto` stands for, or the process has a library of; not cleared
};

// What a refusal needs.
struct Words {
  core::PathText path;
  core::PathText directory;
  core::FixedText<256> provided;
  core::ProblemText problem;
  core::FixedText<core::k_refusal_size> printed;
};

// ROOT, if the shim lies in ROOT/shims/lib; else the one that it was made for.
std::string_view root_beside() {
  for (const link_map* map = loaded_objects(); map; map = map->l_next) {
    if (!is_this_shim(map)) continue;
    std::string_view path = map->l_name;
    while (!path.empty() && !path.ends_with('/')) path.remove_suffix(1);
    constexpr std::string_view k_directory = "/shims/lib/";
    if (!path.starts_with('/') || !path.ends_with(k_directory)) break;
    path.remove_suffix(k_directory.size());
    return path.empty() ? "/" : path;
  }
  return string(cudaenv_table.root);
}

// Puts the toolkit's library into `path`; what kind of file that is. One that is not usable: it has none.
LibraryFile find_in_toolkit(std::string_view directory, core::PathText& path) {
  for (const std::string_view place : core::k_library_places) {
    path.assign(directory).append(place).append(soname());
    if (const LibraryFile file = inspect(path); file.is_usable) return file;
  }
  return {};
}

// Of the libraries of this name in a toolkit, the one under its SONAME, which is the shortest name with a version.
void find_provided(const Search& search, std::string_view directory, Words& words) {
  const std::string_view stem = core::library_stem(soname());
  for (const std::string_view place : core::k_library_places) {
    words.path.assign(directory).append(place);
    search.system.for_each_entry(words.path.c_str(), [&](std::string_view name) {
      if (!core::is_versioned_library(name, stem) || name == soname()) return;
      if (words.provided.size() == 0 || name.size() < words.provided.size()) words.provided.assign(name);
    });
    if (words.provided.size() != 0) return;
  }
}

void describe_missing(Search& search, const core::Selection& selection, Words& words) {
  core::ToolkitList having;
  search.selector.installed().for_each([&](std::string_view root, std::string_view name) {
    words.directory.assign(root).append("/versions/").append(name);
    if (find_in_toolkit(words.directory.view(), words.path).is_usable) having.add(name);
  });
  if (selection.status == core::SelectionStatus::selected) find_provided(search, selection.directory, words);
  core::describe_missing_library(selection, soname(), words.provided.view(), having, words.problem);
}

void copy(std::string_view text, char* to, std::size_t size) {
  std::size_t at = 0;
  for (; at < text.size() && at + 1 < size; ++at) to[at] = text[at];
  to[at] = '\0';
}

// Calls describe(Words&), which fills in a problem, and makes a refusal of it.
template <class Describe>
bool refuse(char* refusal, std::size_t size, Describe describe) {
  copy("cudaenv: no memory", refusal, size);
  return with_temporary<Words>(false, [&](Words& words) {
    describe(words);
    core::append_problem(words.printed, words.problem);
    std::string_view text = words.printed.view();
    if (text.ends_with('\n')) text.remove_suffix(1);
    copy(text, refusal, size);
    return false;
  });
}

// The copy beside whoever asked for the shim. If it was opened by its name, as cuBLAS opens NVRTC, the loader does not
// tell by whom: then one that anybody brings along, the first that was loaded of them. Not where the process has more
// rights than its user: he may have put it there.
LibraryFile find_bundled(Search& search) {
  if (!search.system.is_trusted()) return {};
  if (search.asker) return search.run_path.find_beside(soname(), search.path);
  for (const link_map* map = loaded_objects(); map; map = map->l_next)
    if (const LibraryFile file = RunPath(map).find_beside(soname(), search.path); file.is_usable) return file;
  return {};
}

// Whether nothing is known to stand against the selected toolkit; else the refusal says what. `auto` becomes the
// toolkit that it stands for.
bool passes_gate(Search& search, core::Selection& selection, char* refusal, std::size_t size) {
  const bool is_automatic = selection.spec.kind == core::SpecKind::automatic;
  if (!search.system.is_trusted()) return true;
  if (!is_automatic && !core::has_refusals(search.system, search.path)) return true;
  const auto consult = [&](Gate& gate) {
    if (!gate.load()) return true;
    if (is_automatic) gate.resolve_automatic(selection, search.directory);
    const std::string_view reason = gate.refusal(selection);
    return reason.empty() || refuse(refusal, size, [&](Words& words) {
             core::describe_refused_toolkit(selection, reason, words.problem);
           });
  };
  return with_temporary<Gate>(true, consult, search.system, search.roots);
}

// Whether search.path holds the library; else the refusal says why not.
bool choose(Search& search, LibraryFile& file, char* refusal, std::size_t size) {
  file = find_bundled(search);
  if (file.is_usable) return true;
  const char* home = search.system.variable("HOME");
  const core::RootOutcome outcome = core::find_roots(search.system, root_beside(), home ? home : "", search.roots);
  if (outcome.status != core::RootStatus::found)
    return refuse(refusal, size, [&](Words& words) { core::describe_root_problem(outcome, words.problem); });
  core::Selection selection;
  OneToolkit in_use(search.roots, search.selector.installed());
  const bool is_in_use = in_use.find(selection, search.path, search.directory);
  if (!is_in_use) selection = search.selector.select();
  if (selection.status != core::SelectionStatus::system && selection.status != core::SelectionStatus::selected)
    return refuse(refusal, size, [&](Words& words) {
      const raw::ErrorText reason = raw::error_text(selection.system_error);
      core::describe_problem(selection, search.selector, reason.view(), words.problem);
    });
  if (selection.status == core::SelectionStatus::system) {
    file = find_in_system(search.system, soname(), search.run_path, search.path);
  } else {
    if (!is_in_use && !passes_gate(search, selection, refusal, size)) return false;
    file = find_in_toolkit(selection.directory, search.path);
  }
  if (file.is_usable) return true;
  return refuse(refusal, size, [&](Words& words) { describe_missing(search, selection, words); });
}

}  // namespace

const Choice& choice() { return made; }

void choose(char* refusal, std::size_t size) {
  made.status = ChoiceStatus::refused;
  copy("cudaenv: no memory", refusal, size);
  void* memory = raw::SystemCalls::memory(sizeof(Search));
  if (!memory) return;
  auto& search = *new (memory) Search;
  LibraryFile file;
  if (choose(search, file, refusal, size)) {
    made = {ChoiceStatus::library, file.key, search.path.c_str(), memory};
    return;
  }
  raw::SystemCalls::give_back(memory, sizeof(Search));
}

void forget_path() {
  if (made.memory) raw::SystemCalls::give_back(made.memory, sizeof(Search));
  made.path = nullptr;
  made.memory = nullptr;
}

}  // namespace cudaenv::cudart
