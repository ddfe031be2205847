#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The prompt stays the person's: what runs before it, statuses, options, traps, history, odd shells."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import PROGRAM
from support.shells import REFUSING, ShellTest, in_every_shell, in_shells
from support.terminal import Terminal, quote

# As much of bash-preexec as matters: it takes over the prompt at the first one, and runs a list of functions.
BASH_PREEXEC = """
bash_preexec_imported=defined
precmd_functions=(mine)
mine() { mine_ran=yes; }
__bp_precmd() { local f; for f in "${precmd_functions[@]}"; do "$f"; done; }
__bp_install() { PROMPT_COMMAND=__bp_precmd; __bp_precmd; }
PROMPT_COMMAND=__bp_install
"""
NAMES = ("local export unset eval printf test read command grep set typeset declare return break continue true false echo print source "
         "emulate autoload string math alias hash type")


@in_shells("bash")
class PromptCommand(ShellTest):
    def prompt_command(self, terminal):
        return terminal.output("declare -p PROMPT_COMMAND")

    def assert_follows(self, terminal):
        terminal.cd(self.a)
        self.assertEqual(self.active(terminal), "12.4.1")
        terminal.cd(self.box.home)
        self.assertIsNone(self.active(terminal))

    def test_HOOK_01_string(self):
        for before, expected in (("PROMPT_COMMAND='x=1'", "__cudaenv_hook;x=1"), ("PROMPT_COMMAND='x=1;'", "__cudaenv_hook;x=1;"),
                                 ("PROMPT_COMMAND='x=1; '", "__cudaenv_hook;x=1; "), ("PROMPT_COMMAND='# none'", "__cudaenv_hook;# none"),
                                 ("PROMPT_COMMAND=", "__cudaenv_hook"), ("unset PROMPT_COMMAND", "__cudaenv_hook")):
            with self.subTest(before=before):
                terminal = self.start(before)
                self.assertEqual(terminal.greeting, "")
                self.assertEqual(self.prompt_command(terminal), f'declare -- PROMPT_COMMAND="{expected}"\n')
                self.assert_follows(terminal)
                terminal.close()

    def test_HOOK_01_list(self):
        terminal = self.start("""PROMPT_COMMAND=("a b=1" 'history -a' '')""", after="a() { :; }")
        self.assertEqual(self.prompt_command(terminal),
                         'declare -a PROMPT_COMMAND=([0]="__cudaenv_hook" [1]="a b=1" [2]="history -a" [3]="")\n')
        self.assert_follows(terminal)

    def test_HOOK_01_sourced_twice_adds_nothing(self):
        for before in ("PROMPT_COMMAND='x=1'", "PROMPT_COMMAND=('x=1' 'y=2')", "unset PROMPT_COMMAND", BASH_PREEXEC):
            with self.subTest(before=before):
                once, twice = self.start(before), self.start(before + "\n" + self.source)
                self.assertEqual(self.prompt_command(once), self.prompt_command(twice))
                self.assertEqual(once.output('declare -p precmd_functions 2>&1'), twice.output('declare -p precmd_functions 2>&1'))
                self.assertEqual(once.environment()["PATH"], twice.environment()["PATH"])
                self.assert_follows(twice)

    def test_HOOK_01_bash_preexec(self):
        terminal = self.start(BASH_PREEXEC)
        self.assertEqual(terminal.output('echo "$PROMPT_COMMAND ${precmd_functions[@]} $mine_ran"'), "__bp_precmd mine __cudaenv_hook yes\n")
        self.assert_follows(terminal)

    def test_a_later_part_of_the_text_sees_the_status(self):
        terminal = self.start("PROMPT_COMMAND='seen=$?'")
        for status in (0, 1, 42):
            terminal.run(f"(exit {status}); :; (exit {status})")
            self.assertEqual(terminal.output("echo $seen"), f"{status}\n")

    def test_trap_on_ERR_is_set_off_once(self):
        terminal = self.start("trap 'echo caught' ERR")
        self.assertEqual(terminal.run("false"), ("caught\n", 1))
        terminal.cd(self.a)
        self.assertEqual(terminal.run(f"cd {self.b}; false"), ("caught\n", 1))
        self.assertEqual(terminal.output("trap -p ERR"), "trap -- 'echo caught' ERR\n")

    def test_nocasematch_tells_directories_apart(self):
        self.select("12.4", self.box.home / "Case")
        self.select("12.8", self.box.home / "case")
        terminal = self.start("shopt -s nocasematch")
        for name, release in (("Case", "12.4.1"), ("case", "12.8.1")):
            terminal.cd(self.box.home / name)
            self.assertEqual(self.active(terminal), release)

    def test_readonly_variables_of_the_persons(self):
        terminal = self.start("readonly status=1 name=x next=1 file=x content=x directory=x change=x command=x rest=x head=x tail=x")
        self.assertEqual(terminal.greeting, "")
        for directory, active in ((self.a, "12.4.1"), (self.b, "12.8.1"), (self.box.home, None)):
            self.assert_quiet(terminal.run(f"cd {directory}"))
            self.assert_quiet(terminal.run(""))
            self.assertEqual(self.active(terminal), active)

    def test_comments_may_be_off(self):
        terminal = self.start("shopt -u interactive_comments")
        self.assertEqual(terminal.greeting, "")
        self.assert_follows(terminal)


@in_every_shell
class Status(ShellTest):
    def failing(self, status):
        return f"sh -c 'exit {status}'"

    def test_HOOK_02_status_on_an_unchanged_prompt(self):
        terminal = self.start()
        for status in (0, 1, 42, 255):
            self.assertEqual(terminal.run(self.failing(status)).status, status)
            self.assertEqual(terminal.run("").status, status)

    def test_HOOK_02_status_on_the_prompt_of_a_switch(self):
        terminal = self.start()
        for directory, active in ((self.a, "12.4.1"), (self.b, "12.8.1"), (self.box.home, None)):
            self.assert_quiet(terminal.run(f"cd {directory}; {self.failing(42)}"), 42)
            self.assertEqual(self.active(terminal), active)

    def test_HOOK_02_status_on_the_prompt_of_a_refusal(self):
        terminal = self.start(env=REFUSING)
        self.assert_told(terminal.run(f"cd {self.a}; {self.failing(42)}"), "12.4", status=42)
        self.assertEqual(terminal.run(f"{self.failing(3)}").status, 3)

    def test_HOOK_02_pipestatus(self):
        show = {"bash": "echo ${PIPESTATUS[@]}", "zsh": "echo $pipestatus", "fish": "echo $pipestatus"}[self.shell]
        pipe = "sh -c 'exit 3' | sh -c 'exit 4' | true"
        terminal = self.start()
        for before in ("", f"cd {self.a}; ", f"cd {self.b}; ", f"cd {self.box.home}; "):
            terminal.run(before + pipe)
            self.assertEqual(terminal.output(show), "3 4 0\n")

    def test_HOOK_02_the_line_of_the_start_file_succeeds(self):
        for setting in ("", "" if self.shell == "fish" else "set -euo pipefail"):
            terminal = self.start(setting, self.each("echo got=$?", "echo got=$status"))
            self.assertEqual(terminal.greeting, "got=0\n")

    def test_HOOK_02_not_ended_by_set_e(self):
        if self.shell == "fish":
            self.skipTest("fish has no such option")
        terminal = self.start("set -e", env=REFUSING)
        self.assertEqual(terminal.run("! true").status, 1)
        self.assert_told(terminal.run(f"cd {self.a}"))
        self.assertEqual(terminal.run("! true").status, 1)
        self.assert_quiet(terminal.run(f"cd {self.box.home}; export CUDAENV_OVERRIDE_DRIVER=620.70.06"))
        self.assert_quiet(terminal.run(f"cd {self.a}; ! true"), 1)
        self.assert_toolkit(terminal, self.old)
        self.assertEqual(terminal.run("cudaenv version --bare || true").status, 0)
        self.assertEqual(terminal.run(f"cd {self.b}; (exit 3) || ! true").status, 1)
        self.assert_toolkit(terminal, self.new)


@in_every_shell
class Odd(ShellTest):
    def walk(self, terminal):
        self.assertEqual(terminal.greeting, "")
        self.assert_quiet(terminal.cd(self.a))
        self.assert_toolkit(terminal, self.old)
        self.assert_quiet(terminal.cd(self.b))
        self.assert_toolkit(terminal, self.new)
        self.assert_quiet(terminal.run("cudaenv shell 12.4"))
        self.assert_toolkit(terminal, self.old)
        self.assert_quiet(terminal.run("cudaenv shell --unset"))
        self.assert_toolkit(terminal, self.new)
        self.assert_quiet(terminal.cd(self.box.home))
        self.assert_nothing_is_active(terminal)

    def test_strict_shells(self):
        settings = {"bash": ["set -euo pipefail", "set -C", "set -f", "set -o posix", "shopt -s failglob nullglob dotglob extglob nocaseglob",
                             "shopt -s inherit_errexit 2>/dev/null; set -eu", "set -E; set -T", "set +B; set +o hashall"],
                    "zsh": ["set -euo pipefail", "setopt no_clobber", "setopt ksh_arrays", "setopt sh_word_split glob_subst",
                            "setopt ksh_arrays no_unset err_return sh_word_split", "emulate sh", "emulate ksh",
                            "setopt rc_quotes warn_create_global warn_nested_var null_glob no_nomatch", "setopt posix_builtins",
                            "setopt extended_glob ksh_glob sh_glob"], "fish": [""]}
        for setting in settings[self.shell]:
            with self.subTest(setting=setting):
                # A prompt of the test's own is set up under the same options.
                self.walk(self.start(setting))

    def test_any_separator_of_words(self):
        for separator in (" ", "/", ".", "0123456789", "abcdeilnotv_", "|:"):
            with self.subTest(separator=separator):
                self.walk(self.start(self.each(f"IFS={quote(self.shell, separator)}", f"set -g IFS '{separator}'")))

    def test_functions_named_like_commands(self):
        if self.shell == "fish":
            names, text = "contains printf alias type grep true false emit", "function {0}; builtin echo '{0}!'; end"
        else:
            names, text = NAMES, "{0}() {{ builtin echo '{0}!'; }}"
            if self.shell == "zsh":
                names = names.replace(" emulate", "").replace(" set ", " ")
        functions = [text.format(name) for name in names.split()]
        # The person's own line, the test's prompt and add-zsh-hook need some of them.
        early = [function for name, function in zip(names.split(), functions) if name not in ("eval", "autoload")]
        self.walk(self.start("\n".join(early), after="\n".join(functions)))

    def test_aliases_named_like_commands(self):
        if self.shell == "fish":
            self.skipTest("aliases of fish are functions")
        names = [name for name in NAMES.split() if name not in ("eval", "alias")]
        aliases = "\n".join(f"\\alias {name}='builtin echo {name}!;'" for name in names)
        self.walk(self.start(aliases, after="unalias -a"))

    def test_person_wraps_cd(self):
        wrapper = self.each("cd() { builtin cd \"$@\" && :; }", "functions -c cd wrapped; function cd; wrapped $argv; end")
        self.walk(self.start(wrapper))

    def test_options_stay_as_they_were(self):
        if self.shell == "fish":
            self.skipTest("fish has no options")
        show = {"bash": "set -o; shopt; echo $-; trap", "zsh": "setopt; trap"}[self.shell]
        terminal = self.start("trap 'true' EXIT; trap 'true' USR1")
        plain = Terminal(self.shell, "trap 'true' EXIT; trap 'true' USR1", self.box.environment, self.box.home)
        self.addCleanup(plain.close)
        self.assertEqual(terminal.output(show), plain.output(show))
        for directory in (self.a, self.b, self.box.home):
            terminal.cd(directory)
            self.assertEqual(terminal.output(show), plain.output(show))

    def test_history_has_only_what_was_typed(self):
        if self.shell != "bash":
            self.skipTest("no history without the line editor")
        terminal = self.start()
        terminal.cd(self.a)
        terminal.run("cudaenv version --bare")
        self.assertEqual([line.split(None, 1)[1] for line in terminal.output("history").splitlines()],
                         [f"cd $'{self.a}'", "cudaenv version --bare", "history"])

    def test_traps_see_nothing_of_the_inside(self):
        traps = {"bash": "trap 'echo \"<$BASH_COMMAND>\"' DEBUG", "zsh": "trap 'echo caught' ZERR"}
        if self.shell not in traps:
            self.skipTest("fish has no such traps")
        terminal = self.start(after=traps[self.shell])
        for directory in (self.a, self.b, self.box.home):
            output = terminal.run(f"cd {directory}").output
            self.assertEqual(output, f"<cd {directory}>\n<__cudaenv_hook>\n" if self.shell == "bash" else "")

    def test_end_of_the_shell_runs_its_trap_once(self):
        if self.shell == "fish":
            self.skipTest("fish has no such trap")
        log = self.box.top / "log"
        terminal = self.start(f"trap 'builtin echo end >> {log}' EXIT")
        for directory in (self.a, self.b, self.box.home):
            terminal.cd(directory)
        self.assertFalse(log.exists())

    def test_text_never_ends_the_shell(self):
        for arguments in (("init", self.shell), ("env", "--hook", "--shell", self.shell), ("shell", "--emit", self.shell, "12.8"),
                          ("shell", "--emit", self.shell, "--unset")):
            text = self.cudaenv(*arguments, cwd=self.a).stdout.decode()
            self.assertNotIn("exit", text)
            self.assertNotEqual(text, "")

    def test_text_has_no_comments(self):
        self.assertNotRegex(self.cudaenv("init", self.shell).stdout.decode(), r"(?m)^\s*#|\s# ")


@in_shells("zsh")
class Zsh(ShellTest):
    def test_HOOK_07_registered_from_within_a_function(self):
        terminal = self.start("setopt warn_create_global; f() {", "}; f")
        self.assertEqual(terminal.greeting, "")
        terminal.cd(self.a)
        self.assert_toolkit(terminal, self.old)

    def test_HOOK_07_registered_once(self):
        terminal = self.start(self.source)
        self.assertEqual(terminal.output("print $chpwd_functions $precmd_functions"), "__cudaenv_hook __cudaenv_hook\n")

    def test_global_aliases_in_common_use(self):
        terminal = self.start("alias -g G='| grep' L='| less' H='| head' T='| tail' ...=../.. N='>/dev/null'")
        terminal.cd(self.a)
        self.assert_toolkit(terminal, self.old)


if __name__ == "__main__":
    unittest.main()
