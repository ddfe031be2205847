# cudaenv for bash 3.2 and newer:  eval "$(cudaenv init bash)"
#
# At each prompt it compares the text that selects a toolkit with what it was. Only if that has changed is a process
# started, which prints the change. Lines that are comments are not printed by `init`: a shell may have them off.
#
# Words after `\builtin` are expanded like any others, so they are quoted.

# The program and the places, fixed when this was printed.
__cudaenv_program=@PROGRAM@
__cudaenv_hook_program=@HOOK_PROGRAM@
__cudaenv_shims=@SHIMS@
__cudaenv_globals=@GLOBALS@

# The shims come first, once, wherever an outer shell or a login file has left them.
__cudaenv_put_shims_first() {
  \builtin local __cudaenv_rest=":${PATH-}:" __cudaenv_entry=":$__cudaenv_shims:" __cudaenv_head __cudaenv_tail
  while [[ $__cudaenv_rest == *"$__cudaenv_entry"* ]]; do
    __cudaenv_head=${__cudaenv_rest%%"$__cudaenv_entry"*}
    __cudaenv_tail=${__cudaenv_rest#*"$__cudaenv_entry"}
    __cudaenv_rest=$__cudaenv_head:$__cudaenv_tail
  done
  __cudaenv_rest=${__cudaenv_rest#:}
  __cudaenv_rest=${__cudaenv_rest%:}
  \builtin export PATH="$__cudaenv_shims${__cudaenv_rest:+:$__cudaenv_rest}"
}

# What selects now, as a text, and what `[[` can test of it. A file that starts with a comment may turn out to be empty, so
# the next one counts too, and there is more to it than can be tested. So there is where the directory's name is not
# that of the working directory any more: then the program goes by the latter.
__cudaenv_look() {
  \builtin local REPLY=
  __cudaenv_above=${PWD-}
  __cudaenv_above=${__cudaenv_above%/}
  __cudaenv_candidate=$__cudaenv_above/.cuda-version
  __cudaenv_next=0
  __cudaenv_now="${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|"
  __cudaenv_file=
  __cudaenv_tests=
  __cudaenv_is_simple=yes
  while [[ -z ${CUDAENV_VERSION-} && -n $__cudaenv_candidate ]]; do
    \builtin printf -v __cudaenv_quoted %q "$__cudaenv_candidate"
    if [[ ! -f $__cudaenv_candidate ]]; then
      __cudaenv_tests="$__cudaenv_tests && ! -f $__cudaenv_quoted"
    else
      REPLY=
      if [[ -r $__cudaenv_candidate ]]; then \builtin read -r -d '' <"$__cudaenv_candidate" || \builtin :; fi
      __cudaenv_now="$__cudaenv_now$__cudaenv_candidate|$REPLY|"
      __cudaenv_start=${REPLY#"${REPLY%%[![:space:]]*}"}
      if [[ -n $__cudaenv_start && $__cudaenv_start != '#'* ]]; then
        __cudaenv_tests="$__cudaenv_tests && -r $__cudaenv_quoted"
        __cudaenv_file=$__cudaenv_candidate
        __cudaenv_content=$REPLY
        \builtin break
      fi
      __cudaenv_is_simple=
    fi
    if [[ -n $__cudaenv_above ]]; then
      __cudaenv_above=${__cudaenv_above%/*}
      __cudaenv_candidate=$__cudaenv_above/.cuda-version
    else
      __cudaenv_candidate=${__cudaenv_globals[__cudaenv_next]-}
      __cudaenv_next=$((__cudaenv_next + 1))
    fi
  done
  if [[ ! ${PWD-} -ef . ]]; then
    __cudaenv_now="$__cudaenv_now?"
    __cudaenv_is_simple=
  fi
  # What somebody else has taken away (a module purge, a reset PATH) comes back; what was evaluated by hand stays.
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    __cudaenv_now="$__cudaenv_now!"
  elif [[ -n $__cudaenv_active && $CUDAENV_ACTIVE == "$__cudaenv_active" && ":${PATH-}:" != *":$__cudaenv_home/bin:"* ]]; then
    __cudaenv_now="$__cudaenv_now!"
  fi
}

# Follows what selects a toolkit; false if that had not changed, and then the hook is made anew: it first compares what is
# not even a text, since at most prompts nothing has changed. Variables and directory are what they are now, the files
# nearer than the one that decided are not there, and this one holds what it held. `[[` would not tell letters apart under
# nocasematch. (No brace is closed inside of `${ }`: what that means changed with bash 4.2.)
__cudaenv_follow() {
  __cudaenv_look
  if \builtin [ "$__cudaenv_now" != "$__cudaenv_then" ]; then
    __cudaenv_switch
    \builtin return 0
  fi
  # Not for a directory that is only passed through.
  if \builtin [ "${PWD-}" != "$__cudaenv_directory" ]; then
    __cudaenv_directory=${PWD-}
  elif [[ -n $__cudaenv_is_simple ]]; then
    __cudaenv_known="${PWD-}|${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|${CUDAENV_ACTIVE-}|${PATH-}"
    __cudaenv_tests="[[ \"\${PWD-}|\${CUDAENV_VERSION-}|\${CUDAENV_GATE-}|\${LOADEDMODULES-}|\${CUDAENV_ACTIVE-}|\${PATH-}\" == \"\$__cudaenv_known\"$__cudaenv_tests ]] &&
      ! \\builtin shopt -q nocasematch"
    if [[ -n $__cudaenv_file ]]; then
      __cudaenv_tests="$__cudaenv_tests &&
      { \\builtin read -r -d '' <\"\$__cudaenv_file\"; [[ \$REPLY == \"\$__cudaenv_content\" ]]; }"
    fi
    __cudaenv_make_hook "$__cudaenv_tests ||"
  fi
  \builtin return 1
}

# With what is asked before all else is looked at. bash itself gives the status back to the next command; only what
# follows in the same text has to be told. To return it for nobody would set off `set -e` and a trap on ERR for a status
# that has had its turn.
__cudaenv_make_hook() {
  \builtin eval "__cudaenv_hook() {
    \\builtin local __cudaenv_status=\"\$?\" REPLY=
    ${1-} __cudaenv_follow || \\builtin :
    if [[ \${PROMPT_COMMAND-} == __cudaenv_hook || \$- == *e* ]]; then \\builtin return 0; fi
    \\builtin return \"\$__cudaenv_status\"
  }"
}

# By the program's deputy, which knows what the program said before; by the program itself if that is not there or broken.
__cudaenv_switch() {
  __cudaenv_change=
  __cudaenv_again=
  __cudaenv_known=
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    \builtin export CUDAENV_ACTIVE="$__cudaenv_active" CUDAENV_OUTSIDE="$__cudaenv_outside"
  fi
  if [[ -x $__cudaenv_program ]] && {
    [[ -x $__cudaenv_hook_program ]] &&
      __cudaenv_change=$(PWD=$PWD "$__cudaenv_hook_program" "$__cudaenv_program" env --hook --shell bash) ||
      __cudaenv_change=$(PWD=$PWD "$__cudaenv_program" env --hook --shell bash)
  }; then
    \builtin eval "$__cudaenv_change"
  fi
  __cudaenv_active=${CUDAENV_ACTIVE-}
  __cudaenv_outside=${CUDAENV_OUTSIDE-}
  __cudaenv_home=${CUDA_HOME-}
  __cudaenv_look
  # Driver and GPU may be asked in the background: what they say counts at the next prompt.
  __cudaenv_then=${__cudaenv_again:+again}
  __cudaenv_then=${__cudaenv_then:-$__cudaenv_now}
}

# A variable of this shell's own, not exported, which is about to be: kept until that is over.
__cudaenv_hide() {
  if [[ -n ${!1+set} ]]; then \builtin printf -v "__cudaenv_hidden_$1" %s "${!1}"; fi
}

__cudaenv_unset() {
  \builtin local __cudaenv_hidden="__cudaenv_hidden_$1"
  \builtin unset -v "$1"
  if [[ -n ${!__cudaenv_hidden+set} ]]; then
    \builtin printf -v "$1" %s "${!__cudaenv_hidden}"
    \builtin unset -v "$__cudaenv_hidden"
  fi
}

# `cudaenv shell` changes this shell. Whatever else cudaenv does may change what becomes of the selection, so that is
# looked at again, without telling once more what has been told.
cudaenv() {
  \builtin local __cudaenv_status=0
  if [[ ${1-} == shell && -n ${2-} ]]; then
    \builtin shift
    __cudaenv_change=$("$__cudaenv_program" shell --emit bash "$@") || __cudaenv_status=$?
    if [[ $__cudaenv_change == '\builtin export '* || $__cudaenv_change == '__cudaenv_'* ]]; then
      \builtin eval "$__cudaenv_change"
    elif [[ -n $__cudaenv_change ]]; then
      \builtin printf '%s\n' "$__cudaenv_change"
    fi
  else
    "$__cudaenv_program" "$@" || __cudaenv_status=$?
  fi
  __cudaenv_follow || __cudaenv_switch 2>/dev/null
  \builtin return "$__cudaenv_status"
}

__cudaenv_install() {
  \builtin local __cudaenv_command
  # bash-preexec keeps the list of what runs before a prompt.
  if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
    for __cudaenv_command in "${precmd_functions[@]-}"; do
      if [[ $__cudaenv_command == __cudaenv_hook ]]; then \builtin return 0; fi
    done
    precmd_functions[${#precmd_functions[@]}]=__cudaenv_hook
    \builtin return 0
  fi
  for __cudaenv_command in "${PROMPT_COMMAND[@]-}"; do
    if [[ $__cudaenv_command == *__cudaenv_hook* ]]; then \builtin return 0; fi
  done
  __cudaenv_command=
  # Before 5.1 only the first element of a list was run.
  if [[ ${BASH_VERSINFO[0]} -gt 5 || ${BASH_VERSINFO[0]} -eq 5 && ${BASH_VERSINFO[1]} -gt 0 ]]; then
    __cudaenv_command=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) || \builtin :
  fi
  if [[ $__cudaenv_command == 'declare -a'* ]]; then
    PROMPT_COMMAND=(__cudaenv_hook "${PROMPT_COMMAND[@]}")
  else
    PROMPT_COMMAND="__cudaenv_hook${PROMPT_COMMAND:+;$PROMPT_COMMAND}"
  fi
}

__cudaenv_then=
__cudaenv_known=
__cudaenv_directory=
__cudaenv_active=
__cudaenv_outside=
__cudaenv_home=
__cudaenv_make_hook
__cudaenv_put_shims_first
__cudaenv_install
@COMPLETION@
