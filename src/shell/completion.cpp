// SPDX-License-Identifier: Apache-2.0
#include "shell/completion.hpp"

namespace cudaenv::shell {
namespace {

// The script has comments, so they are switched on while it is read.
constexpr std::string_view k_bash = R"loader(__cudaenv_complete() {
  \builtin local comments=
  \builtin shopt -q interactive_comments || comments=off
  \builtin shopt -s interactive_comments
  \builtin eval "$("$__cudaenv_program" completions bash 2>/dev/null)" || \builtin :
  [[ -z $comments ]] || \builtin shopt -u interactive_comments
  \builtin declare -F _cudaenv >/dev/null || \builtin return 0
  _cudaenv "$@"
}
\builtin complete -F __cudaenv_complete cudaenv 2>/dev/null || \builtin :
)loader";

// Many call compinit last, so it is looked for at the first prompt. What compinit found installed comes first.
constexpr std::string_view k_zsh = R"loader(__cudaenv_complete() {
  \builtin eval "$("$__cudaenv_program" completions zsh 2>/dev/null)"
  (( ! ${+functions[_cudaenv]} )) || _cudaenv "$@"
}
__cudaenv_offer_completion() {
  \builtin emulate -L zsh
  add-zsh-hook -d precmd __cudaenv_offer_completion
  (( ! ${+functions[compdef]} || ${+_comps[cudaenv]} )) || compdef __cudaenv_complete cudaenv
  \builtin return 0
}
add-zsh-hook precmd __cudaenv_offer_completion
)loader";

constexpr std::string_view k_fish = R"loader(function __cudaenv_complete
    test -x $__cudaenv_program; and $__cudaenv_program completions fish 2>/dev/null | source
    functions -q __cudaenv_at; and complete -C (commandline -cp)
end
complete -c cudaenv -f -a '(__cudaenv_complete)'
)loader";

}  // namespace

std::string_view completion_loader(Shell shell) {
  switch (shell) {
    case Shell::bash: return k_bash;
    case Shell::zsh: return k_zsh;
    case Shell::fish: return k_fish;
  }
  return {};
}

}  // namespace cudaenv::shell
