// SPDX-License-Identifier: Apache-2.0
#include "cli/completion_text.hpp"

namespace cudaenv::cli {

const std::string_view k_bash_script = R"script(# SPDX-License-Identifier: Apache-2.0
# Completion of cudaenv for bash 3.2 and newer, made by `cudaenv completions bash`.

# What may follow a command: its options; those with a value, " --option=kind "; its arguments, by position.
__cudaenv_follow() {
  options='' values='' arguments='' actions=''
  case $1 in
@ROWS@    *) \builtin return 1 ;;
  esac
}

# The words of that kind that begin like the word at the cursor. A comma after the kind: of the last part of it.
__cudaenv_offer() {
  \builtin local kind="$1" before='' found='' word rest
  if [[ $kind == *, ]]; then
    kind=${kind%,}
    if [[ $cur == *,* ]]; then before=${cur%,*}, cur=${cur##*,}; fi
  fi
  case $kind in
    *'|'*) found=${kind//|/$'\n'} ;;
    directory | url)
      found=$(\builtin compgen -d -- "$cur") || \builtin :
      \builtin compopt -o filenames 2>/dev/null || \builtin :
      ;;
    program) found=$(\builtin compgen -c -- "$cur") || \builtin : ;;
    none) ;;
    *)
      found=$(\builtin command "${__cudaenv_program:-cudaenv}" complete "$kind" -- "$last" 2>/dev/null) ||
        \builtin :
      ;;
  esac
  while IFS=$'\t' \builtin read -r word rest; do
    if [[ -n $word && $word == "$cur"* ]]; then COMPREPLY[${#COMPREPLY[@]}]=$before$word; fi
  done <<<"$found"
}

# Completes what stands from a word on as the command line of another program.
__cudaenv_program_line() {
  if \builtin declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1" 2>/dev/null || \builtin :
  elif \builtin declare -F _command_offset >/dev/null; then
    _command_offset "$1" 2>/dev/null || \builtin :
  elif [[ $1 == "$COMP_CWORD" ]]; then
    __cudaenv_offer program
  else
    \builtin compopt -o default 2>/dev/null || \builtin :
  fi
}

_cudaenv() {
  \builtin local IFS=$' \t\n' cur="${COMP_WORDS[COMP_CWORD]-}" options values arguments actions
  \builtin local path='' kind='' last='' word is_ended='' i
  COMPREPLY=()
  __cudaenv_follow ''
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -n $kind ]]; then
      if [[ $word != = ]]; then kind=; fi # --color=never is three words here
    elif [[ -z $is_ended && $word == -- ]]; then
      is_ended=1
    elif [[ -z $is_ended && $word == -* ]]; then
      if [[ $values == *" $word="* ]]; then kind=${values#*" $word="} kind=${kind%% *}; fi
    elif [[ -n $actions ]]; then
      path="${path:+$path }$word"
      __cudaenv_follow "$path" || \builtin return 0
    elif [[ $arguments == program* ]]; then
      \builtin break
    else
      last=$word
      case $arguments in
        *' '*) arguments=${arguments#* } ;;
        *...) ;;
        *) arguments= ;;
      esac
    fi
  done
  if [[ -n $kind ]]; then
    if [[ $cur == = ]]; then cur=; fi
  elif [[ $arguments == program* && ($i -lt $COMP_CWORD || -n $is_ended || $cur != -*) ]]; then
    __cudaenv_program_line "$i"
    \builtin return 0
  else
    kind=${arguments%% *} kind=${kind%...}
    if [[ -z $is_ended && ($cur == -* || -z $kind) ]]; then kind=$options; fi
  fi
  if [[ -n $kind ]]; then __cudaenv_offer "$kind"; fi
  \builtin return 0
}

\builtin complete -F _cudaenv cudaenv
)script";

const std::string_view k_zsh_script = R"script(#compdef cudaenv
# SPDX-License-Identifier: Apache-2.0
# Completion of cudaenv for zsh, made by `cudaenv completions zsh`.

# Values of a kind; what follows it is for compadd.
_cudaenv_values() {
  local kind=$1 line
  local -a lines found
  shift
  lines=("${(@f)$(command "${__cudaenv_program:-cudaenv}" complete $kind -- "${words[CURRENT-1]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    [[ -z $line ]] || found+=("${${line//:/\\:}/$'\t'/:}")
  done
  _describe -V -t $kind $kind found "$@"
}

@FUNCTIONS@if [[ $funcstack[1] == _cudaenv ]]; then
  _cudaenv "$@"
else
  compdef _cudaenv cudaenv
fi
)script";

const std::string_view k_zsh_actions = R"script(  case $state in
    (action)
      local -a actions=(
@NAMES@      )
      _describe -t commands command actions && ret=0
      ;;
    (rest)
      case $words[1] in
@CASES@      esac
      ;;
  esac
  return ret
)script";

const std::string_view k_fish_script = R"script(# SPDX-License-Identifier: Apache-2.0
# Completion of cudaenv for fish, made by `cudaenv completions fish`.

# Whether an option of a command is followed by its value.
function __cudaenv_takes_value --argument-names path option
    contains -- "$path $option"@VALUE_OPTIONS@
end

# The command that a word leads to from another; nothing if it is none.
function __cudaenv_step --argument-names path word
    switch "$path $word"
@STEPS@        case '*'
            return 1
    end
end

# What stands before the cursor: the command, then its arguments.
function __cudaenv_where
    set -l words (commandline -opc)
    set -l path ''
    set -l arguments
    set -l has_option 0
    set -l is_ended 0
    for word in $words[2..-1]
        if test $has_option = 1
            set has_option 0
        else if test $is_ended = 0; and test "$word" = --
            set is_ended 1
        else if test $is_ended = 0; and string match -q -- '-*' "$word"
            __cudaenv_takes_value "$path" "$word"; and set has_option 1
        else if set -l step (__cudaenv_step "$path" "$word")
            set path $step
        else
            set -a arguments $word
            contains -- "$path"@RUNNERS@; and set is_ended 1
        end
    end
    printf '%s\n' "$path" $arguments
end

# Whether the word at the cursor belongs to a command and has at least and at most so many arguments before it.
function __cudaenv_at --argument-names path least most
    set -l where (__cudaenv_where)
    test "$where[1]" = "$path"; or return
    set -l count (math (count $where) - 1)
    test -z "$least"; or test $count -ge $least; or return
    test -z "$most"; or test $count -le $most
end

function __cudaenv_values --argument-names kind
    set -l program cudaenv
    set -q __cudaenv_program; and set program $__cudaenv_program
    set -l words (commandline -opc)
    command $program complete $kind -- $words[-1] 2>/dev/null
end

# Completes what stands after the command's options as the command line of another program.
function __cudaenv_program_line
    set -l where (__cudaenv_where)
    complete "--do-complete="(string join ' ' -- (string escape -- $where[2..-1]) (commandline -ct))
end

complete -c cudaenv -e
complete -c cudaenv -f
@COMPLETIONS@)script";

}  // namespace cudaenv::cli
