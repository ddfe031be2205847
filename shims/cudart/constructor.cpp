// SPDX-License-Identifier: Apache-2.0
//
// Opens the library that was chosen, and binds functions to it as they are first called.
//
// The constructor opens it, not the first call: a process that forks while another thread is in the loader could hang
// in its child, and a process that has changed its directory meanwhile would get another library. Only a constructor of
// somebody else's that runs before this one, and calls, makes the first call open it.
//
// The library is never closed: threads of it may run until the process ends. So whoever closes the shim and opens it
// again gets the same library.
//
// The constructor is also what a refusal falls back upon. If the resolver (resolver.cpp) was not heard, because a
// loader does things in another order than those known, a program ends here with the words on stderr, and to whoever
// opened the shim by name every function answers with an error, or ends the process where errors of the library are not
// known. Another library than the selected one is never used.

#include <dlfcn.h>
#include <link.h>

#include "answers.hpp"
#include "choice.hpp"
#include "opened_library.hpp"
#include "preload.hpp"
#include "raw/syscalls.hpp"
#include "table.hpp"

namespace cudaenv::cudart {
namespace {

using raw::SystemCalls;

enum class State : int { closed, opening, open, refused };

constinit State state = State::closed;
constinit long opener = 0;  // the thread that opens, while it does
constinit OpenedLibrary library;

// Whether the program itself was linked with the shim, so that it cannot do without.
bool is_linked() {
  void* program = ::dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  return program && ::dlsym(program, string(cudaenv_table.marker_name)) == stub(cudaenv_table.marker);
}

State refuse() {
  print(string(cudaenv_table.refusal));
  print("\n");
  if (is_linked()) SystemCalls::exit(k_no_command);
  for (std::uint32_t i = 0; i < cudaenv_table.function_count; ++i)
    *slot(i) = answer_of(function(i).answer, Reason::refused);
  return State::refused;
}

State refuse(const char* reason) {
  char* to = string(cudaenv_table.refusal);
  char* const end = to + core::k_refusal_size - 1;
  for (const char* part : {"cudaenv: cannot open the selected library: ", reason})
    for (; *part != '\0' && to < end; ++part) *to++ = *part;
  *to = '\0';
  return refuse();
}

State open_library() {
  if (choice().status == ChoiceStatus::not_made) choose(string(cudaenv_table.refusal), core::k_refusal_size);
  if (choice().status == ChoiceStatus::refused) return refuse();
  preload(choice().path);
  void* handle = ::dlopen(choice().path, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return refuse(::dlerror());
  if (is_this_shim(static_cast<link_map*>(handle))) return refuse("it is the shim itself");
  library.read(static_cast<link_map*>(handle));
  forget_path();
  return State::open;
}

long this_thread() { return raw::system_call(__NR_gettid); }

State load_state() { return static_cast<State>(__atomic_load_n(reinterpret_cast<int*>(&state), __ATOMIC_ACQUIRE)); }

// The state after opening; `opening` only to the thread that is just doing so.
State opened() {
  State now = load_state();
  if (now == State::open || now == State::refused) return now;
  State expected = State::closed;
  if (__atomic_compare_exchange_n(reinterpret_cast<int*>(&state), reinterpret_cast<int*>(&expected),
                                  static_cast<int>(State::opening), false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    opener = this_thread();
    now = open_library();
    opener = 0;
    __atomic_store_n(reinterpret_cast<int*>(&state), static_cast<int>(now), __ATOMIC_RELEASE);
    return now;
  }
  while ((now = load_state()) == State::opening) {
    if (__atomic_load_n(&opener, __ATOMIC_RELAXED) == this_thread()) return now;
    raw::system_call(__NR_sched_yield);
  }
  return now;
}

// A constructor of the library itself calls one of its functions and, as the library is not linked with -Bsymbolic,
// lands here: it has to be answered out of the library that is being opened.
void* find_in_opening(const core::ShimFunction& wanted) {
  for (const link_map* map = loaded_objects(); map; map = map->l_next) {
    const std::string_view path = map->l_name;
    if (path != choice().path) continue;
    OpenedLibrary opening;
    opening.read(map);
    return opening.find(string(wanted.name), wanted.hash);
  }
  return nullptr;
}

// A function that the library does not have is hidden (resolver.cpp) where the shim was made with the library at hand.
void tell_missing(const core::ShimFunction& wanted) {
  for (const char* part : {"cudaenv: ", static_cast<const char*>(string(wanted.name)), " is not in ", library.path(),
                           "\ntry: cudaenv rehash\n"})
    print(part);
}

[[gnu::constructor]] void construct() { opened(); }

}  // namespace
}  // namespace cudaenv::cudart

// The function that a stub stands for; from now on its slot leads there. Called by the bindings in template.S.
extern "C" [[gnu::visibility("hidden"), gnu::used]] void* cudaenv_bind(std::uint32_t number) {
  using namespace cudaenv::cudart;
  const cudaenv::core::ShimFunction& wanted = function(number);
  const State now = opened();
  if (now == State::refused) return *slot(number);
  void* found = now == State::opening ? find_in_opening(wanted) : library.find(string(wanted.name), wanted.hash);
  if (!found) {
    tell_missing(wanted);
    found = answer_of(wanted.answer, Reason::missing);
  }
  if (now == State::open) __atomic_store_n(slot(number), found, __ATOMIC_RELEASE);
  return found;
}
