# cudaenv for bash 3.2 and newer:  eval "$(cudaenv init bash)"
#
# At each prompt it compares the text that selects a toolkit with what it was. Only if that has changed is a process
# started, which prints the change. Lines that are comments are not printed by `init`: a shell may have them off.
#
# Words after `\builtin` are expanded like any others, so they are quoted.

# The program and the places, fixed when this was printed.
__cudaenv_program=@PROGRAM@
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

# The files that may select a toolkit here, nearest first.
__cudaenv_find_files() {
  \builtin local directory="${PWD-}"
  __cudaenv_directory=$directory
  __cudaenv_files=()
  while [[ -n $directory ]]; do
    directory=${directory%/}
    __cudaenv_files[${#__cudaenv_files[@]}]=$directory/.cuda-version
    directory=${directory%/*}
  done
  __cudaenv_files=("${__cudaenv_files[@]}" "${__cudaenv_globals[@]}")
}

# What selects now, as a text. A file that starts with a comment may turn out to be empty, so the next one counts too.
__cudaenv_look() {
  \builtin local file content IFS
  __cudaenv_now="${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|"
  if [[ -z ${CUDAENV_VERSION-} ]]; then
    for file in "${__cudaenv_files[@]}"; do
      if [[ -f $file ]]; then
        content=
        if [[ -r $file ]]; then IFS= \builtin read -r -d '' content <"$file" || \builtin :; fi
        __cudaenv_now="$__cudaenv_now$file|$content|"
        content=${content#"${content%%[![:space:]]*}"}
        [[ -z $content || $content == '#'* ]] || \builtin break
      fi
    done
  fi
  # What somebody else has taken away (a module purge, a reset PATH) comes back; what was evaluated by hand stays.
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    __cudaenv_now="$__cudaenv_now!"
  elif [[ -n $__cudaenv_active && $CUDAENV_ACTIVE == "$__cudaenv_active" && ":${PATH-}:" != *":$__cudaenv_home/bin:"* ]]; then
    __cudaenv_now="$__cudaenv_now!"
  fi
}

# Follows what selects a toolkit; false if nothing had changed. `[[` would not tell letters apart under nocasematch.
__cudaenv_follow() {
  if \builtin [ "${PWD-}" != "$__cudaenv_directory" ]; then __cudaenv_find_files; fi
  __cudaenv_look
  if \builtin [ "$__cudaenv_now" = "$__cudaenv_then" ]; then \builtin return 1; fi
  __cudaenv_switch
}

__cudaenv_hook() {
  \builtin local status="$?"
  __cudaenv_follow || \builtin :
  # bash itself gives the status back to the next command; only what follows in the same text has to be told. To return
  # it for nobody would set off `set -e` and a trap on ERR for a status that has had its turn.
  if [[ $- == *e* || ${PROMPT_COMMAND-} == __cudaenv_hook ]]; then \builtin return 0; fi
  \builtin return "$status"
}

__cudaenv_switch() {
  \builtin local change=
  __cudaenv_again=
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    \builtin export CUDAENV_ACTIVE="$__cudaenv_active" CUDAENV_OUTSIDE="$__cudaenv_outside"
  fi
  if [[ -x $__cudaenv_program ]] && change=$(PWD=$PWD "$__cudaenv_program" env --hook --shell bash); then
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
__cudaenv_directory=
__cudaenv_active=
__cudaenv_outside=
__cudaenv_home=
__cudaenv_put_shims_first
__cudaenv_install
@COMPLETION@
