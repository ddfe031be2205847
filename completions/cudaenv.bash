# SPDX-License-Identifier: Apache-2.0
# Completion of cudaenv for bash 3.2 and newer, made by `cudaenv completions bash`.

# What may follow a command: its options; those with a value, " --option=kind "; its arguments, by position.
__cudaenv_follow() {
  options='' values='' arguments='' actions=''
  case $1 in
    '')
      options='-h|--help|-q|--quiet|--verbose|--color|-V|--version'
      values=' --color=auto|always|never '
      arguments='install|lock|mirror|uninstall|add|remove|verify|repair|prune|adopt|versions|version|local|global|which|whence|prefix|root|exec|env|check|info|shell|init|completions|rehash|config|help' actions=1
      ;;
    'install')
      options='-h|--help|-q|--quiet|--verbose|--color|--profile|--with|--without|--platform|--mirror|--accept-manifest|--add|-j|--jobs|--force|--dry-run|--list|--locked'
      values=' --color=auto|always|never --profile=minimal|default|full --with=component, --without=part, --platform=linux-x86_64|linux-sbsa|linux-aarch64|linux-ppc64le --mirror=url --accept-manifest=none --add=product, -j=none --jobs=none '
      arguments='release'
      ;;
    'lock')
      options='-h|--help|-q|--quiet|--verbose|--color|--profile|--with|--without|--platform|--mirror|--accept-manifest|--add|--output|--check'
      values=' --color=auto|always|never --profile=minimal|default|full --with=component, --without=part, --platform=linux-x86_64|linux-sbsa|linux-aarch64|linux-ppc64le|all, --mirror=url --accept-manifest=none --add=product, --output=none '
      arguments='release'
      ;;
    'mirror')
      options='-h|--help|-q|--quiet|--verbose|--color|--profile|--with|--without|--platform|--mirror|--accept-manifest|--dry-run|--verify'
      values=' --color=auto|always|never --profile=minimal|default|full --with=component, --without=part, --platform=linux-x86_64|linux-sbsa|linux-aarch64|linux-ppc64le|all, --mirror=url --accept-manifest=none '
      arguments='directory release...'
      ;;
    'uninstall')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='toolkit...'
      ;;
    'add')
      options='-h|--help|-q|--quiet|--verbose|--color|--to|--mirror|--accept-manifest|--dry-run'
      values=' --color=auto|always|never --to=spec --mirror=url --accept-manifest=none '
      arguments='product...'
      ;;
    'remove')
      options='-h|--help|-q|--quiet|--verbose|--color|--from'
      values=' --color=auto|always|never --from=spec '
      arguments='product...'
      ;;
    'available')
      options='-h|--help|-q|--quiet|--verbose|--color|--profile|--with|--without|--platform|--mirror|--accept-manifest|--add|-j|--jobs|--force|--dry-run|--list|--locked'
      values=' --color=auto|always|never --profile=minimal|default|full --with=component, --without=part, --platform=linux-x86_64|linux-sbsa|linux-aarch64|linux-ppc64le --mirror=url --accept-manifest=none --add=product, -j=none --jobs=none '
      arguments='release'
      ;;
    'verify')
      options='-h|--help|-q|--quiet|--verbose|--color|--all|--json'
      values=' --color=auto|always|never '
      arguments='toolkit...'
      ;;
    'repair')
      options='-h|--help|-q|--quiet|--verbose|--color|--mirror'
      values=' --color=auto|always|never --mirror=url '
      arguments='toolkit...'
      ;;
    'prune')
      options='-h|--help|-q|--quiet|--verbose|--color|--dry-run'
      values=' --color=auto|always|never '
      ;;
    'adopt')
      options='-h|--help|-q|--quiet|--verbose|--color|--name'
      values=' --color=auto|always|never --name=none '
      arguments='directory'
      ;;
    'versions' | 'list')
      options='-h|--help|-q|--quiet|--verbose|--color|--bare|--json|--size'
      values=' --color=auto|always|never '
      ;;
    'version' | 'current')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      ;;
    'local')
      options='-h|--help|-q|--quiet|--verbose|--color|--unset|--force'
      values=' --color=auto|always|never '
      arguments='spec'
      ;;
    'pin')
      options='-h|--help|-q|--quiet|--verbose|--color|--unset|--force'
      values=' --color=auto|always|never '
      arguments='spec'
      ;;
    'global')
      options='-h|--help|-q|--quiet|--verbose|--color|--unset|--force'
      values=' --color=auto|always|never '
      arguments='spec'
      ;;
    'which')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='tool'
      ;;
    'whence')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='tool'
      ;;
    'prefix')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='spec'
      ;;
    'root')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      ;;
    'exec')
      options='-h|--help|-q|--quiet|--verbose|--color|-v|--version'
      values=' --color=auto|always|never -v=spec --version=spec '
      arguments='program...'
      ;;
    'env')
      options='-h|--help|-q|--quiet|--verbose|--color|--shell|--format'
      values=' --color=auto|always|never --shell=bash|zsh|fish --format=sh|dotenv|json|github|modulefile '
      arguments='spec'
      ;;
    'check')
      options='-h|--help|-q|--quiet|--verbose|--color|--driver|--gpu|--json'
      values=' --color=auto|always|never --driver=none --gpu=none, '
      arguments='toolkit...'
      ;;
    'info')
      options='-h|--help|-q|--quiet|--verbose|--color|--json'
      values=' --color=auto|always|never '
      ;;
    'shell')
      options='-h|--help|-q|--quiet|--verbose|--color|--unset|--force'
      values=' --color=auto|always|never '
      arguments='spec'
      ;;
    'init' | 'hook')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='bash|zsh|fish'
      ;;
    'completions')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='bash|zsh|fish'
      ;;
    'complete')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='none none'
      ;;
    'rehash')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      ;;
    'config')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='list|get|set|unset' actions=1
      ;;
    'config list')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      ;;
    'config get')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='key'
      ;;
    'config set')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='key value...'
      ;;
    'config unset')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='key'
      ;;
    'help')
      options='-h|--help|-q|--quiet|--verbose|--color'
      values=' --color=auto|always|never '
      arguments='install|lock|mirror|uninstall|add|remove|verify|repair|prune|adopt|versions|version|local|global|which|whence|prefix|root|exec|env|check|info|shell|init|completions|rehash|config|help'
      ;;
    *) \builtin return 1 ;;
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
