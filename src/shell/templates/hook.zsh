# cudaenv for zsh:  eval "$(cudaenv init zsh)"
#
# At each prompt and after each cd it compares the text that selects a toolkit with what it was. Only if that has
# changed is a process started, which prints the change. Lines that are comments are not printed by `init`.
#
# Options are the user's until `emulate`: words before it are quoted.

# The program and the places, fixed when this was printed.
\builtin typeset -g __cudaenv_program=@PROGRAM@ __cudaenv_hook_program=@HOOK_PROGRAM@ __cudaenv_shims=@SHIMS@
\builtin typeset -g __cudaenv_now= __cudaenv_then= __cudaenv_again=
\builtin typeset -g __cudaenv_file= __cudaenv_content= __cudaenv_is_simple= __cudaenv_tests= __cudaenv_known=
\builtin typeset -g __cudaenv_active= __cudaenv_outside= __cudaenv_home=
\builtin typeset -ga __cudaenv_globals
__cudaenv_globals=@GLOBALS@

# The shims come first, once, wherever an outer shell or a login file has left them.
__cudaenv_put_shims_first() {
  \builtin emulate -L zsh
  \builtin local rest=":${PATH-}:" entry=":$__cudaenv_shims:"
  while [[ $rest == *"$entry"* ]]; do rest="${rest%%"$entry"*}:${rest#*"$entry"}"; done
  rest=${rest#:}
  rest=${rest%:}
  \builtin export PATH="$__cudaenv_shims${rest:+:$rest}"
}

# What selects now, as a text, and what `[[` can test of it. A file that starts with a comment may turn out to be empty, so
# the next one counts too, and there is more to it than can be tested. So there is where the directory's name is not
# that of the working directory any more: then the program goes by the latter.
__cudaenv_look() {
  \builtin emulate -L zsh
  \builtin local content directory=${PWD%/}
  \builtin local file=$directory/.cuda-version
  \builtin local -a globals
  globals=("${__cudaenv_globals[@]}")
  __cudaenv_now="${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|"
  __cudaenv_file=
  __cudaenv_tests=
  __cudaenv_is_simple=yes
  while [[ -z ${CUDAENV_VERSION-} && -n $file ]]; do
    if [[ ! -f $file ]]; then
      __cudaenv_tests+=" && ! -f ${(qq)file}"
    else
      __cudaenv_content=
      if [[ -r $file ]]; then IFS= \builtin read -r -d '' __cudaenv_content <"$file" || \builtin :; fi
      __cudaenv_now="$__cudaenv_now$file|$__cudaenv_content|"
      content=${__cudaenv_content#"${__cudaenv_content%%[![:space:]]*}"}
      if [[ -n $content && $content != '#'* ]]; then
        __cudaenv_tests+=" && -f ${(qq)file} && -r ${(qq)file}"
        __cudaenv_file=$file
        \builtin break
      fi
      __cudaenv_is_simple=
    fi
    if [[ -n $directory ]]; then
      directory=${directory%/*}
      file=$directory/.cuda-version
    else
      file=${globals[1]-}
      globals=("${(@)globals[2,-1]}")
    fi
  done
  if [[ ! $PWD -ef . ]]; then
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

# zsh itself gives the status back.
__cudaenv_hook() { __cudaenv_follow || \builtin :; }

# Follows what selects a toolkit; false if that had not changed, and then the hook is made anew: it first compares what is
# not even a text, since at most prompts nothing has changed. Variables and directory are what they are now, the files
# nearer than the one that decided are not there, and this one holds what it held. It has to be right under all options.
__cudaenv_follow() {
  \builtin emulate -L zsh
  __cudaenv_look
  if [[ $__cudaenv_now != "$__cudaenv_then" ]]; then
    __cudaenv_switch
    \builtin return
  fi
  if [[ -n $__cudaenv_is_simple ]]; then
    __cudaenv_known="${PWD-}|${CUDAENV_VERSION-}|${CUDAENV_GATE-}|${LOADEDMODULES-}|${CUDAENV_ACTIVE-}|${PATH-}"
    \builtin eval "__cudaenv_hook() {
      \\builtin local REPLY= IFS=
      [[ \"\${PWD-}|\${CUDAENV_VERSION-}|\${CUDAENV_GATE-}|\${LOADEDMODULES-}|\${CUDAENV_ACTIVE-}|\${PATH-}\" == \"\$__cudaenv_known\"$__cudaenv_tests ]] &&
      { [[ -z \$__cudaenv_file ]] || { \\builtin \\read -r -d '' <\"\$__cudaenv_file\"; [[ \$REPLY == \"\$__cudaenv_content\" ]]; } } ||
      __cudaenv_follow || \\builtin :
    }"
  fi
  \builtin return 1
}

# By the program's deputy, which knows what the program said before; by the program itself if that is not there or broken.
__cudaenv_switch() {
  \builtin emulate -L zsh
  \builtin local change=
  __cudaenv_again=
  __cudaenv_known=
  if [[ -n $__cudaenv_active && -z ${CUDAENV_ACTIVE-} ]]; then
    \builtin export CUDAENV_ACTIVE="$__cudaenv_active" CUDAENV_OUTSIDE="$__cudaenv_outside"
  fi
  if [[ -x $__cudaenv_program ]] && {
    [[ -x $__cudaenv_hook_program ]] &&
      change=$(PWD=$PWD "$__cudaenv_hook_program" "$__cudaenv_program" env --hook --shell zsh) ||
      change=$(PWD=$PWD "$__cudaenv_program" env --hook --shell zsh)
  }; then
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
  \builtin emulate -L zsh
  if (( ${(P)+1} )); then \builtin typeset -g "__cudaenv_hidden_$1=${(P)1}"; fi
}

__cudaenv_unset() {
  \builtin emulate -L zsh
  \builtin local hidden="__cudaenv_hidden_$1"
  if (( ${(P)+hidden} )); then
    # Not by unset, which would untie LD_LIBRARY_PATH from its array.
    \builtin typeset -g +x "$1=${(P)hidden}"
    \builtin unset "$hidden"
  else
    \builtin unset "$1"
  fi
}

# `cudaenv shell` changes this shell. Whatever else cudaenv does may change what becomes of the selection, so that is
# looked at again, without telling once more what has been told.
cudaenv() {
  \builtin emulate -L zsh
  \builtin local __cudaenv_result=0 change=
  if [[ ${1-} == shell && -n ${2-} ]]; then
    \builtin shift
    change=$("$__cudaenv_program" shell --emit zsh "$@") || __cudaenv_result=$?
    if [[ $change == '\builtin export '* || $change == '__cudaenv_'* ]]; then
      \builtin eval "$change"
    elif [[ -n $change ]]; then
      \builtin print -r -- "$change"
    fi
  else
    "$__cudaenv_program" "$@" || __cudaenv_result=$?
  fi
  __cudaenv_follow || __cudaenv_switch 2>/dev/null
  \builtin return $__cudaenv_result
}

__cudaenv_put_shims_first
\builtin autoload -Uz add-zsh-hook
add-zsh-hook chpwd __cudaenv_hook
add-zsh-hook precmd __cudaenv_hook
@COMPLETION@
