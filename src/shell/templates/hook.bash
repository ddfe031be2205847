# cudaenv for bash 3.2 and newer:  eval "$(cudaenv init bash)"
#
# At each prompt it compares the text that selects a toolkit with what it was. Only if that has changed is a process
# started, which prints the change.

# The program and the places, fixed when this was printed.
__cudaenv_program=@PROGRAM@
__cudaenv_shims=@SHIMS@
__cudaenv_globals=@GLOBALS@

# The shims come first, once, wherever an outer shell or a login file has left them.
__cudaenv_put_shims_first() {
  \builtin local rest=":${PATH-}:" entry=":$__cudaenv_shims:"
  while [[ $rest == *"$entry"* ]]; do rest="${rest%%"$entry"*}:${rest#*"$entry"}"; done
  rest=${rest#:}
  rest=${rest%:}
  \builtin export PATH="$__cudaenv_shims${rest:+:$rest}"
}

# The files that may select a toolkit here, nearest first.
__cudaenv_find_files() {
  \builtin local directory=${PWD-}
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
      [[ -f $file ]] || \builtin continue
      content=
      IFS= \builtin read -r -d '' content 2>/dev/null <"$file" || \builtin :
      __cudaenv_now="$__cudaenv_now$file|$content|"
      content=${content#"${content%%[![:space:]]*}"}
      [[ -z $content || $content == '#'* ]] || \builtin break
    done
  fi
  # What somebody else has taken away (a module purge, a reset PATH) comes back.
  if [[ -n ${CUDAENV_ACTIVE-} && ":${PATH-}:" != *":${CUDA_HOME-}/bin:"* && ${CUDA_HOME-} == "${__cudaenv_home-}" ]]; then
    __cudaenv_now="$__cudaenv_now!"
  elif [[ -z ${CUDAENV_ACTIVE-} && -n ${__cudaenv_home-} ]]; then
    __cudaenv_now="$__cudaenv_now!"
  fi
}

__cudaenv_hook() {
  \builtin local status=$?
  if [[ ${PWD-} != "${__cudaenv_directory-}" ]]; then __cudaenv_find_files; fi
  __cudaenv_look
  if [[ $__cudaenv_now != "${__cudaenv_then-}" ]]; then
    __cudaenv_switch
    __cudaenv_look
    # Driver and GPU may be asked in the background: what they say counts at the next prompt.
    __cudaenv_then=${__cudaenv_again:+again}
    __cudaenv_then=${__cudaenv_then:-$__cudaenv_now}
  fi
  # `set -e` would end the shell for a status that it has let pass.
  case $- in *e*) \builtin return 0 ;; esac
  \builtin return $status
}

__cudaenv_switch() {
  \builtin local change=
  __cudaenv_again=
  [[ -x $__cudaenv_program ]] || \builtin return 0
  change=$(PWD=$PWD "$__cudaenv_program" env --hook --shell bash) || \builtin return 0
  \builtin eval "$change"
  __cudaenv_home=${CUDAENV_ACTIVE:+${CUDA_HOME-}}
}

# `cudaenv shell` changes this shell; whatever else cudaenv does may change what is selected here.
cudaenv() {
  \builtin local status=0
  if [[ ${1-} == shell ]]; then
    \builtin local change=
    \builtin shift
    change=$("$__cudaenv_program" shell --emit bash "$@") || status=$?
    if [[ $status == 0 ]]; then \builtin eval "$change"; else [[ -z $change ]] || \builtin printf '%s\n' "$change"; fi
  else
    "$__cudaenv_program" "$@" || status=$?
  fi
  __cudaenv_hook
  \builtin return $status
}

__cudaenv_install() {
  \builtin local command
  # bash-preexec keeps the list of what runs before a prompt.
  if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
    for command in "${precmd_functions[@]-}"; do [[ $command != __cudaenv_hook ]] || \builtin return 0; done
    precmd_functions[${#precmd_functions[@]}]=__cudaenv_hook
    \builtin return 0
  fi
  for command in "${PROMPT_COMMAND[@]-}"; do [[ ";$command;" != *";__cudaenv_hook;"* ]] || \builtin return 0; done
  case $(\builtin declare -p PROMPT_COMMAND 2>/dev/null) in
    'declare -a'*) PROMPT_COMMAND=(__cudaenv_hook "${PROMPT_COMMAND[@]}") ;;
    *) PROMPT_COMMAND="__cudaenv_hook${PROMPT_COMMAND:+;$PROMPT_COMMAND}" ;;
  esac
}

__cudaenv_put_shims_first
__cudaenv_then=
__cudaenv_directory=
__cudaenv_install
