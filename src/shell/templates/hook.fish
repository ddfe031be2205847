# cudaenv for fish:  cudaenv init fish | source
#
# At each prompt and after each cd it compares the text that selects a toolkit with what it was. Only if that has
# changed is a process started, which prints the change. Lines that are comments are not printed by `init`.

# The program and the places, fixed when this was printed.
set -g __cudaenv_program @PROGRAM@
set -g __cudaenv_hook_program @HOOK_PROGRAM@
set -g __cudaenv_shims @SHIMS@
set -g __cudaenv_globals @GLOBALS@
set -g __cudaenv_file
set -g __cudaenv_content
set -g __cudaenv_nearer
set -g __cudaenv_is_simple
set -g __cudaenv_state
set -g __cudaenv_known
set -g __cudaenv_now
set -g __cudaenv_then
set -g __cudaenv_again
set -g __cudaenv_active
set -g __cudaenv_outside
set -g __cudaenv_home
# fish 3.5
builtin -q path; and set -g __cudaenv_has_path

# The shims come first, once, wherever an outer shell or a login file has left them.
function __cudaenv_put_shims_first
    set -l rest
    for entry in $PATH
        test "$entry" = "$__cudaenv_shims"; or set rest $rest $entry
    end
    set -gx PATH $__cudaenv_shims $rest
end

# What selects now, as a text. Few words do it, without command substitutions: each takes microseconds, and those would
# split names at line ends.
function __cudaenv_look
    set -g __cudaenv_now "$CUDAENV_VERSION|$CUDAENV_GATE|$LOADEDMODULES|"
    set -g __cudaenv_file
    set -g __cudaenv_content
    set -g __cudaenv_is_simple yes
    set -l nearer
    if test -z "$CUDAENV_VERSION"
        set -l directory $PWD
        while not test -f $directory/.cuda-version; or not __cudaenv_read $directory/.cuda-version
            set -a nearer $directory/.cuda-version
            string match -qr '(?s)^(?<directory>.*)/' -- $directory; and continue
            for file in $__cudaenv_globals
                test -f $file; and __cudaenv_read $file; and break
                set -a nearer $file
            end
            break
        end
    end
    set -q nearer[1]; or set nearer ''
    set -g __cudaenv_nearer $nearer
    # Where this is not the working directory's name any more, the program goes by that directory itself.
    if not test "$PWD" -ef .
        set -g __cudaenv_now "$__cudaenv_now?"
        set -g __cudaenv_is_simple
    end
    # What somebody else has taken away (a module purge, a reset PATH) comes back; what was evaluated by hand stays.
    if test "$CUDAENV_ACTIVE" != "$__cudaenv_active"; or not builtin contains -- "$__cudaenv_home/bin" $PATH
        if test -n "$__cudaenv_active"; and string match -q -- "$CUDAENV_ACTIVE" '' "$__cudaenv_active"
            set -g __cudaenv_now "$__cudaenv_now!"
        end
    end
end

# Adds a file to that text; true if it decides. One that starts with a comment may turn out to be empty.
function __cudaenv_read
    set -g __cudaenv_content
    test -r $argv; and read -g -z __cudaenv_content <$argv
    set -g __cudaenv_now "$__cudaenv_now$argv|$__cudaenv_content|"
    if string match -qr '^\s*[^\s#]' -- "$__cudaenv_content"
        set -g __cudaenv_file $argv
        return 0
    end
    set -g __cudaenv_is_simple
    return 1
end

# Follows what selects a toolkit; false if that had not changed, and then it is kept what the hook may compare first.
function __cudaenv_follow
    __cudaenv_look
    if test "$__cudaenv_now" != "$__cudaenv_then"
        __cudaenv_switch
        return
    end
    if set -q __cudaenv_is_simple[1] __cudaenv_has_path
        set -g __cudaenv_state "|$__cudaenv_content"
        set -g __cudaenv_known "$PWD$__cudaenv_state"
    end
    return 1
end

# fish tells when one of the variables changes.
function __cudaenv_forget --on-variable CUDAENV_VERSION --on-variable CUDAENV_GATE --on-variable LOADEDMODULES \
    --on-variable CUDAENV_ACTIVE --on-variable PATH
    set -g __cudaenv_state
    set -g __cudaenv_known
end

# At most prompts nothing has changed: directory and variables are what they were, the files nearer than the one that
# decided are not there, and this one holds what it held. That is found out here, since each function costs. (Without a
# name `path` would read its input, so there is always one.)
function __cudaenv_hook --on-event fish_prompt --on-variable PWD
    test -f "$__cudaenv_file"; and read -l -z __cudaenv_found <$__cudaenv_file
    test "$PWD|$__cudaenv_found" = "$__cudaenv_known"
    and not builtin path is -f -- $__cudaenv_nearer
    or status is-command-substitution
    or __cudaenv_move "|$__cudaenv_found"
    or __cudaenv_follow
end

# In another directory other files are nearer. True if that is all, and none of them is there.
function __cudaenv_move
    test "$argv" = "$__cudaenv_state"; or return
    set -l nearer
    set -l directory $PWD
    while test $directory/.cuda-version != "$__cudaenv_file"
        set -a nearer $directory/.cuda-version
        string match -qr '(?s)^(?<directory>.*)/' -- $directory; and continue
        # The one that decided is none of those above: if it is for everywhere, let it be found anew.
        test -z "$__cudaenv_file"; or return
        set -a nearer $__cudaenv_globals
        break
    end
    set -q nearer[1]; or set nearer ''
    builtin path is -f -- $nearer; and return 1
    set -g __cudaenv_known "$PWD$__cudaenv_state"
    set -g __cudaenv_nearer $nearer
    return 0
end

# By the program's deputy, which knows what the program said before; by the program itself if that is not there or broken.
# With an argument: without a word, which a redirection of the whole would not make it.
function __cudaenv_switch
    set -g __cudaenv_again
    __cudaenv_forget
    if test -n "$__cudaenv_active"; and test -z "$CUDAENV_ACTIVE"
        set -gx CUDAENV_ACTIVE $__cudaenv_active
        set -gx CUDAENV_OUTSIDE $__cudaenv_outside
    end
    if test -x $__cudaenv_program
        set -l change
        set -l command $__cudaenv_program env --hook --shell fish
        if set -q argv[1]
            set change ($command 2>/dev/null)
        else
            test -x $__cudaenv_hook_program; and set change ($__cudaenv_hook_program $command)
            or set change ($command)
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
