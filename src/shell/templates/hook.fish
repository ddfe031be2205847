# cudaenv for fish:  cudaenv init fish | source
#
# At each prompt and after each cd it compares the text that selects a toolkit with what it was. Only if that has
# changed is a process started, which prints the change. Lines that are comments are not printed by `init`.

# The program and the places, fixed when this was printed.
set -g __cudaenv_program @PROGRAM@
set -g __cudaenv_shims @SHIMS@
set -g __cudaenv_globals @GLOBALS@
set -g __cudaenv_directory
set -g __cudaenv_files
set -g __cudaenv_now
set -g __cudaenv_then
set -g __cudaenv_again
set -g __cudaenv_active
set -g __cudaenv_outside
set -g __cudaenv_home

# The shims come first, once, wherever an outer shell or a login file has left them.
function __cudaenv_put_shims_first
    set -l rest
    for entry in $PATH
        test "$entry" = "$__cudaenv_shims"; or set rest $rest $entry
    end
    set -gx PATH $__cudaenv_shims $rest
end

# The files that may select a toolkit here, nearest first. (A command substitution would split names at line ends.)
function __cudaenv_find_files
    set -l prefix ''
    set -l parts
    builtin echo -n $PWD | read -z -d / -a parts
    set -g __cudaenv_directory $PWD
    set -g __cudaenv_files /.cuda-version $__cudaenv_globals
    for part in $parts
        test -n "$part"; or continue
        set prefix $prefix/$part
        set __cudaenv_files $prefix/.cuda-version $__cudaenv_files
    end
end

# What selects now, as a text. A file that starts with a comment may turn out to be empty, so the next one counts too.
function __cudaenv_look
    set -l now "$CUDAENV_VERSION|$CUDAENV_GATE|$LOADEDMODULES|"
    if test -z "$CUDAENV_VERSION"
        for file in $__cudaenv_files
            if test -f $file
                set -l content
                test -r $file; and read -z content <$file
                set now "$now$file|$content|"
                string match -qr '^\s*[^\s#]' -- "$content"; and break
            end
        end
    end
    # What somebody else has taken away (a module purge, a reset PATH) comes back; what was evaluated by hand stays.
    if test -n "$__cudaenv_active"
        if test -z "$CUDAENV_ACTIVE"
            set now "$now!"
        else if test "$CUDAENV_ACTIVE" = "$__cudaenv_active"; and not builtin contains -- $__cudaenv_home/bin $PATH
            set now "$now!"
        end
    end
    set -g __cudaenv_now $now
end

# Follows what selects a toolkit; false if nothing had changed.
function __cudaenv_follow
    test "$PWD" = "$__cudaenv_directory"; or __cudaenv_find_files
    __cudaenv_look
    test "$__cudaenv_now" != "$__cudaenv_then"; and __cudaenv_switch
end

function __cudaenv_hook --on-event fish_prompt --on-variable PWD
    status is-command-substitution; or __cudaenv_follow
end

# With an argument: without a word, which a redirection of the whole would not make it.
function __cudaenv_switch
    set -g __cudaenv_again
    if test -n "$__cudaenv_active"; and test -z "$CUDAENV_ACTIVE"
        set -gx CUDAENV_ACTIVE $__cudaenv_active
        set -gx CUDAENV_OUTSIDE $__cudaenv_outside
    end
    if test -x $__cudaenv_program
        set -l change
        if set -q argv[1]
            set change ($__cudaenv_program env --hook --shell fish 2>/dev/null)
        else
            set change ($__cudaenv_program env --hook --shell fish)
        end
        and string join \n -- $change | builtin source
    end
    set -g __cudaenv_active "$CUDAENV_ACTIVE"
    set -g __cudaenv_outside "$CUDAENV_OUTSIDE"
    set -g __cudaenv_home "$CUDA_HOME"
    __cudaenv_look
    # Driver and GPU may be asked in the background: what they say counts at the next prompt.
    set -g __cudaenv_then $__cudaenv_now
    test -z "$__cudaenv_again"; or set -g __cudaenv_then again
    return 0
end

# A variable of this shell's own, not exported, which is about to be: kept until that is over.
function __cudaenv_hide
    set -l name $argv[1]
    set -qg $name; and set -g __cudaenv_hidden_$name $$name
end

function __cudaenv_unset
    set -l name $argv[1]
    set -l hidden __cudaenv_hidden_$name
    set -eg $name
    if set -qg $hidden
        set -gu $name $$hidden
        set -eg $hidden
    end
end

# `cudaenv shell` changes this shell. Whatever else cudaenv does may change what becomes of the selection, so that is
# looked at again, without telling once more what has been told.
function cudaenv
    set -l result 0
    if test "$argv[1]" = shell; and set -q argv[2]
        set -l change ($__cudaenv_program shell --emit fish $argv[2..-1])
        set result $status
        if string match -q 'set -gx *' -- $change[1]; or string match -q '__cudaenv_*' -- $change[1]
            string join \n -- $change | builtin source
        else if set -q change[1]
            string join \n -- $change
        end
    else
        $__cudaenv_program $argv
        set result $status
    end
    __cudaenv_follow; or __cudaenv_switch quietly
    return $result
end

__cudaenv_put_shims_first
__cudaenv_follow
@COMPLETION@
