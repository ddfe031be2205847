# cudaenv for zsh:  eval "$(cudaenv init zsh)"
#
# At each prompt and after each cd it compares the text that selects a toolkit with what it was. Only if that has
# changed is a process started, which prints the change.

# The program and the places, fixed when this was printed.
typeset -g __cudaenv_program=@PROGRAM@
typeset -g __cudaenv_shims=@SHIMS@
typeset -ga __cudaenv_globals=@GLOBALS@
typeset -ga __cudaenv_files=()
typeset -g __cudaenv_directory= __cudaenv_now= __cudaenv_then= __cudaenv_home= __cudaenv_again=

# The shims come first, once, wherever an outer shell or a login file has left them.
__cudaenv_put_shims_first() {
  builtin emulate -L zsh
  builtin local rest=":${PATH-}:" entry=":$__cudaenv_shims:"
  while [[ $rest == *"$entry"* ]]; do rest="${rest%%"$entry"*}:${rest#*"$entry"}"; done
  rest=${rest#:}
  rest=${rest%:}
  builtin export PATH="$__cudaenv_shims${rest:+:$rest}"
}

# The files that may select a toolkit here, nearest first.
__cudaenv_find_files() {
  builtin emulate -L zsh
  builtin local directory=$PWD
  __cudaenv_directory=$directory
  __cudaenv_files=()
  while [[ -n $directory ]]; do
    directory=${directory%/}
    __cudaenv_files+=("$directory/.cuda-version")
    directory=${directory%/*}
  done
  __cudaenv_files+=("${__cudaenv_globals[@]}")
}

# What selects now, as a text. A file that starts with a comment may turn out to be empty, so the next one counts too.
__cudaenv_look() {
  builtin emulate -L zsh
  builtin local file content
  __cudaenv_now="${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|"
  if [[ -z ${CUDAENV_VERSION-} ]]; then
    for file in "${__cudaenv_files[@]}"; do
      [[ -f $file ]] || continue
      content=
      IFS= builtin read -r -d '' content 2>/dev/null <"$file" || builtin :
      __cudaenv_now="$__cudaenv_now$file|$content|"
      content=${content#"${content%%[![:space:]]*}"}
      [[ -z $content || $content == '#'* ]] || break
    done
  fi
  # What somebody else has taken away (a module purge, a reset PATH) comes back.
  if [[ -n ${CUDAENV_ACTIVE-} && ":${PATH-}:" != *":${CUDA_HOME-}/bin:"* && ${CUDA_HOME-} == "$__cudaenv_home" ]]; then
    __cudaenv_now="$__cudaenv_now!"
  elif [[ -z ${CUDAENV_ACTIVE-} && -n $__cudaenv_home ]]; then
    __cudaenv_now="$__cudaenv_now!"
  fi
}

__cudaenv_hook() {
  builtin local __cudaenv_status=$?
  builtin emulate -L zsh
  if [[ $PWD != "$__cudaenv_directory" ]]; then __cudaenv_find_files; fi
  __cudaenv_look
  if [[ $__cudaenv_now != "$__cudaenv_then" ]]; then
    __cudaenv_switch
    __cudaenv_look
    # Driver and GPU may be asked in the background: what they say counts at the next prompt.
    __cudaenv_then=${__cudaenv_again:+again}
    __cudaenv_then=${__cudaenv_then:-$__cudaenv_now}
  fi
  builtin return $__cudaenv_status
}

__cudaenv_switch() {
  builtin local change=
  __cudaenv_again=
  [[ -x $__cudaenv_program ]] || builtin return 0
  change=$(PWD=$PWD "$__cudaenv_program" env --hook --shell zsh) || builtin return 0
  builtin eval "$change"
  __cudaenv_home=${CUDAENV_ACTIVE:+${CUDA_HOME-}}
}

# `cudaenv shell` changes this shell; whatever else cudaenv does may change what is selected here.
cudaenv() {
  builtin emulate -L zsh
  builtin local __cudaenv_result=0 change=
  if [[ ${1-} == shell ]]; then
    builtin shift
    change=$("$__cudaenv_program" shell --emit zsh "$@") || __cudaenv_result=$?
    if [[ $__cudaenv_result == 0 ]]; then builtin eval "$change"; else [[ -z $change ]] || builtin print -r -- "$change"; fi
  else
    "$__cudaenv_program" "$@" || __cudaenv_result=$?
  fi
  __cudaenv_hook
  builtin return $__cudaenv_result
}

__cudaenv_put_shims_first
builtin autoload -Uz add-zsh-hook
add-zsh-hook chpwd __cudaenv_hook
add-zsh-hook precmd __cudaenv_hook
