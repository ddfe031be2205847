# cudaenv for fish:  cudaenv init fish | source
#
# At each prompt and after each cd it compares the text that selects a toolkit with what it was. Only if that has
# changed is a process started, which prints the change.

# The program and the places, fixed when this was printed.
set -g __cudaenv_program @PROGRAM@
set -g __cudaenv_shims @SHIMS@
set -g __cudaenv_globals @GLOBALS@
set -g __cudaenv_directory
set -g __cudaenv_files
set -g __cudaenv_now
set -g __cudaenv_then
set -g __cudaenv_home
set -g __cudaenv_again

# The shims come first, once, wherever an outer shell or a login file has left them.
function __cudaenv_put_shims_first
    set -l rest
    for entry in $PATH
        test "$entry" = "$__cudaenv_shims"; or set rest $rest $entry
    end
    set -gx PATH $__cudaenv_shims $rest
end

# The files that may select a toolkit here, nearest first.
function __cudaenv_find_files
    set -l directory $PWD
    set -g __cudaenv_directory $PWD
    set -g __cudaenv_files
    while test -n "$directory"
        set directory (string replace -r '/$' '' -- $directory)
        set -a __cudaenv_files $directory/.cuda-version
        set directory (string replace -r '/[^/]*$' '' -- $directory)
    end
    set -a __cudaenv_files $__cudaenv_globals
end

# What selects now, as a text. A file that starts with a comment may turn out to be empty, so the next one counts too.
function __cudaenv_look
    set -g __cudaenv_now "$CUDAENV_VERSION|$CUDAENV_GATE|$LOADEDMODULES|"
    if test -z "$CUDAENV_VERSION"
        for file in $__cudaenv_files
            test -f $file; or continue
            set -l content
            test -r $file; and read -z content <$file
            set -g __cudaenv_now "$__cudaenv_now$file|$content|"
            string match -qr '^\s*[^\s#]' -- "$content"; and break
        end
    end
    # What somebody else has taken away (a module purge, a reset PATH) comes back.
    if test -n "$CUDAENV_ACTIVE"
        if test "$CUDA_HOME" = "$__cudaenv_home"; and not contains -- $CUDA_HOME/bin $PATH
            set -g __cudaenv_now "$__cudaenv_now!"
        end
    else if test -n "$__cudaenv_home"
        set -g __cudaenv_now "$__cudaenv_now!"
    end
end

function __cudaenv_hook --on-event fish_prompt --on-variable PWD
    status is-command-substitution; and return
    test "$PWD" = "$__cudaenv_directory"; or __cudaenv_find_files
    __cudaenv_look
    if test "$__cudaenv_now" != "$__cudaenv_then"
        __cudaenv_switch
        __cudaenv_look
        set -g __cudaenv_then $__cudaenv_now
        # Driver and GPU may be asked in the background: what they say counts at the next prompt.
        test -z "$__cudaenv_again"; or set -g __cudaenv_then again
    end
end

function __cudaenv_switch
    set -g __cudaenv_again
    test -x $__cudaenv_program; or return 0
    $__cudaenv_program env --hook --shell fish | source
    set -g __cudaenv_home
    test -n "$CUDAENV_ACTIVE"; and set -g __cudaenv_home $CUDA_HOME
    return 0
end

# `cudaenv shell` changes this shell; whatever else cudaenv does may change what is selected here.
function cudaenv
    set -l result 0
    if test "$argv[1]" = shell
        set -l change ($__cudaenv_program shell --emit fish $argv[2..-1])
        set result $status
        if test $result = 0
            string join \n -- $change | source
        else if test -n "$change"
            string join \n -- $change
        end
    else
        $__cudaenv_program $argv
        set result $status
    end
    __cudaenv_hook
    return $result
end

__cudaenv_put_shims_first
__cudaenv_hook
