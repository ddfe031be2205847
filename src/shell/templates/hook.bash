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
  \builtin local rest=":${PATH-}:" entry=":$__cudaenv_shims:" head tail
  while [[ $rest == *"$entry"* ]]; do
    head=${rest%%"$entry"*}
    tail=${rest#*"$entry"}
    rest=$head:$tail
  done
  rest=${rest#:}
  rest=${rest%:}
  \builtin export PATH="$__cudaenv_shims${rest:+:$rest}"
}

# What selects now, as a text, and what `[[` can test of it. A file that starts with a comment may turn out to be empty, so
# the next one counts too, and there is more to it than can be tested.
__cudaenv_look() {
  \builtin local content name next=0 directory="${PWD-}"
  directory=${directory%/}
  \builtin local file="$directory/.cuda-version" IFS=
  __cudaenv_now="${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|"
  __cudaenv_file=
  __cudaenv_tests=
  __cudaenv_is_simple=yes
  while [[ -z ${CUDAENV_VERSION-} && -n $file ]]; do
    \builtin printf -v name %q "$file"
    if [[ ! -f $file ]]; then
      __cudaenv_tests="$__cudaenv_tests && ! -f $name"
    else
      __cudaenv_content=
      if [[ -r $file ]]; then \builtin read -r -d '' __cudaenv_content <"$file" || \builtin :; fi
      __cudaenv_now="$__cudaenv_now$file|$__cudaenv_content|"
      content=${__cudaenv_content#"${__cudaenv_content%%[![:space:]]*}"}
      if [[ -n $content && $content != '#'* ]]; then
        __cudaenv_tests="$__cudaenv_tests && -f $name"
        __cudaenv_file=$file
        \builtin break
      fi
      __cudaenv_is_simple=
    fi
    if [[ -n $directory ]]; then
      directory=${directory%/*}
      file=$directory/.cuda-version
    else
      file=${__cudaenv_globals[next]-}
      next=$((next + 1))
    fi
  done
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
# nocasematch.
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
    __cudaenv_make_hook "[[ \"\${PWD-}|\${CUDAENV_VERSION-}|\${CUDAENV_GATE-}|\${LOADEDMODULES-}|\${CUDAENV_ACTIVE-}|\${PATH-}\" == \"\$__cudaenv_known\"$__cudaenv_tests ]] &&
      ! \\builtin shopt -q nocasematch${__cudaenv_file:+ &&
      { \\builtin read -r -d '' <\"\$__cudaenv_file\"; [[ \$REPLY == \"\$__cudaenv_content\" ]]; \}} ||"
  fi
  \builtin return 1
}

# With what is asked before all else is looked at. bash itself gives the status back to the next command; only what
# follows in the same text has to be told. To return it for nobody would set off `set -e` and a trap on ERR for a status
# that has had its turn.
__cudaenv_make_hook() {
  \builtin eval "__cudaenv_hook() {
    \\builtin local status=\"\$?\" REPLY=
    ${1-} __cudaenv_follow || \\builtin :
    if [[ \${PROMPT_COMMAND-} == __cudaenv_hook || \$- == *e* ]]; then \\builtin return 0; fi
    \\builtin return \"\$status\"
  }"
}

__cudaenv_switch() {
  \builtin local change='' by="$__cudaenv_hook_program"
  __cudaenv_again=
  __cudaenv_known=
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    \builtin export CUDAENV_ACTIVE="$__cudaenv_active" CUDAENV_OUTSIDE="$__cudaenv_outside"
  fi
  [[ -x $by ]] || by=
  if [[ -x $__cudaenv_program ]] && change=$(PWD=$PWD ${by:+"$by"} "$__cudaenv_program" env --hook --shell bash); then
    \builtin eval "$change"
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
  \builtin local hidden="__cudaenv_hidden_$1"
  \builtin unset -v "$1"
  if [[ -n ${!hidden+set} ]]; then
    \builtin printf -v "$1" %s "${!hidden}"
    \builtin unset -v "$hidden"
  fi
}

# `cudaenv shell` changes this shell. Whatever else cudaenv does may change what becomes of the selection, so that is
# looked at again, without telling once more what has been told.
cudaenv() {
  \builtin local status=0 change=
  if [[ ${1-} == shell && -n ${2-} ]]; then
    \builtin shift
    change=$("$__cudaenv_program" shell --emit bash "$@") || status=$?
    if [[ $change == '\builtin export '* || $change == '__cudaenv_'* ]]; then
      \builtin eval "$change"
    elif [[ -n $change ]]; then
      \builtin printf '%s\n' "$change"
    fi
  else
    "$__cudaenv_program" "$@" || status=$?
  fi
  __cudaenv_follow || __cudaenv_switch 2>/dev/null
  \builtin return "$status"
}

__cudaenv_install() {
  \builtin local command
  # bash-preexec keeps the list of what runs before a prompt.
  if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
    for command in "${precmd_functions[@]-}"; do
      if [[ $command == __cudaenv_hook ]]; then \builtin return 0; fi
    done
    precmd_functions[${#precmd_functions[@]}]=__cudaenv_hook
    \builtin return 0
  fi
  for command in "${PROMPT_COMMAND[@]-}"; do
    if [[ $command == *__cudaenv_hook* ]]; then \builtin return 0; fi
  done
  command=
  # Before 5.1 only the first element of a list was run.
  if [[ ${BASH_VERSINFO[0]} -gt 5 || ${BASH_VERSINFO[0]} -eq 5 && ${BASH_VERSINFO[1]} -gt 0 ]]; then
    command=$(\builtin declare -p PROMPT_COMMAND 2>/dev/null) || \builtin :
  fi
  if [[ $command == 'declare -a'* ]]; then
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
