#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion of commands, options and values, as the real shells do it."""

import os
import pty
import re
import select
import shutil
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest
from support.sandbox import DEADLINE, PROGRAM

ROOT = Path(__file__).resolve().parents[2]
FILES = {"bash": "cudaenv.bash", "zsh": "_cudaenv", "fish": "cudaenv.fish"}
INSTALLED = ["12.8.1", "12.4.1"]
SPECS = [*INSTALLED, "latest", "auto", "system"]

# As readline calls it: what is left of the cursor in words, `=` a word of its own.
BASH = """
line=("$@")
COMP_WORDS=("${line[@]}") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=0 COMPREPLY=()
COMP_POINT=${#COMP_LINE}
function=$(complete -p cudaenv)
function=${function#*-F } function=${function%% *}
"$function" cudaenv "${line[$COMP_CWORD]}" "${line[$(($COMP_CWORD - 1))]}"
for word in ${COMPREPLY[@]+"${COMPREPLY[@]}"}; do printf '%s\\n' "$word"; done
"""

# A widget that prints what compadd takes in, in place of a list on the screen.
ZSH = r"""
stty -echo; PS1= ; unsetopt prompt_sp prompt_cr; unset zle_bracketed_paste
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a taken
  builtin compadd -A taken "$@"
  __test_found+=($taken)
  builtin compadd "$@"
}
show() {
  local -a __test_found; local errors=$HOME/errors
  _main_complete 2>>$errors
  print -r -- "<<$(<$errors)${(F)__test_found}>>" >/dev/tty
  zle send-break
}
zle -C show list-choices show; bindkey '^X' show
setopt nounset
print REA''DY
"""


class CompletionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.box.environment["PATH"] = f"{PROGRAM.parent}:/usr/bin:/bin"
        self.box.environment["TERM"] = "dumb"
        self.box.tool(self.new / "bin", "nvlink")

    def shell(self, name):
        if not shutil.which(name):
            self.skipTest(f"no {name}")
        return shutil.which(name)

    def source(self, shell, by):
        """What makes a shell complete: the file, or the integration."""
        if by == "file":
            return f"source {ROOT}/completions/{FILES[shell]}"
        return f"{PROGRAM} init fish | source" if shell == "fish" else f'eval "$({PROGRAM} init {shell})"'

    def offered(self, shell, line, by="file", env=None):
        """The words that a shell offers for the last one of a line; it must print nothing else."""
        return getattr(self, f"offered_by_{shell}")(line, by, env)

    def offered_by_bash(self, line, by, env):
        words = re.findall(r"=|[^\s=]+", line)
        if line.endswith((" ", "=")):
            words.append("")
        if line.endswith("="):
            words[-2:] = ["="]
        setup = f"set -euo pipefail; {self.source('bash', by)}\nIFS=x\n"
        result = self.box.run(self.shell("bash"), "--norc", "--noprofile", "-c", setup + BASH, "bash", *words, env=env)
        self.assertEqual((result.returncode, result.stderr), (0, b""), line)
        return list(dict.fromkeys(result.stdout.decode().splitlines()))

    def offered_by_fish(self, line, by, env):
        result = self.box.run(self.shell("fish"), "--no-config", "-c", f"{self.source('fish', by)}; complete -C $argv[1]", line, env=env)
        self.assertEqual(result.stderr, b"", line)
        words = [text.partition("\t")[0] for text in result.stdout.decode().splitlines()]
        return [re.sub(r"^--\w+=", "", word) for word in words]

    def offered_by_zsh(self, line, by, env):
        program = self.shell("zsh")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.box.project)
            os.execve(program, [program, "-f", "-i"], {**self.box.environment, **(env or {})})
        try:
            before = f"fpath=({ROOT}/completions $fpath)" if by == "file" else self.source("zsh", by)
            script = self.box.write("setup.zsh", f"{before}\nautoload -Uz compinit; compinit -u -C -d $HOME/{by}.dump\n{ZSH}")
            os.write(terminal, f"source {script}\n".encode())
            self.read(terminal, rb"READY\r")
            os.write(terminal, line.encode() + b"\x18")
            answer = self.read(terminal, rb"<<(.*?)>>").group(1).decode()
        finally:
            os.kill(process, 9)
            os.waitpid(process, 0)
            os.close(terminal)
        return list(dict.fromkeys(answer.split()))

    def read(self, terminal, pattern):
        text, end = b"", time.monotonic() + DEADLINE
        while not re.search(pattern, text, re.S):
            left = end - time.monotonic()
            self.assertTrue(left > 0 and select.select([terminal], [], [], left)[0], text)
            text += os.read(terminal, 65536)
        return re.search(pattern, text, re.S)

    def help_lines(self, *arguments, pattern):
        return re.findall(pattern, self.cudaenv("help", *arguments).stdout.decode(), re.M)

    def commands(self):
        return self.help_lines(pattern=r"^  ([a-z]+) +[A-Z]")


class Files(CompletionTest):
    def test_they_are_what_the_program_prints(self):
        for shell, name in FILES.items():
            with self.subTest(shell=shell):
                result = self.cudaenv("completions", shell)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assertEqual((ROOT / "completions" / name).read_bytes(), result.stdout,
                                 f"run: build/bin/cudaenv completions {shell} >completions/{name}")

    def test_a_shell_that_is_not_known(self):
        self.assert_fails(self.cudaenv("completions", "ksh"), 2, "ksh", "known: bash, zsh, fish")

    def test_the_words_of_an_option_are_those_that_it_takes(self):
        self.select("12.4")
        for option in ("--shell", "--format"):
            words = self.offered("bash", f"cudaenv env {option} ")
            self.assertGreater(len(words), 2)
            for word in words:
                files = {"GITHUB_ENV": str(self.box.top / "variables"), "GITHUB_PATH": str(self.box.top / "path")}
                result = self.cudaenv("env", option, word, env=files)
                self.assertEqual(result.returncode, 0, (word, result.stderr))
        for word in self.offered("bash", "cudaenv init "):
            self.assertEqual(self.cudaenv("init", word).returncode, 0)


class Values(CompletionTest):
    def lines(self, *arguments, **options):
        result = self.cudaenv("complete", *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode().splitlines()

    def test_have_descriptions(self):
        (self.box.root / "versions" / "distro").symlink_to(self.box.tool("opt/cuda/bin", "nvcc").parents[1])
        self.assertIn(f"distro\tadopted from {self.box.top}/opt/cuda", self.lines("toolkit"))
        self.assertIn("12.4.1\treleased 2024-04-03", self.lines("spec"))
        self.assertIn("nvlink\tin 12.8.1", self.lines("tool"))
        self.assertIn("on\tthe default", self.lines("value", "gate.mode"))
        self.assertEqual(set(self.lines("part")) - set(self.lines("component")),
                         {"static\tstatic libraries, but for those that nvcc links by itself",
                          "samples\texample sources that come with the profiling libraries"})
        self.assertTrue(any(line.startswith("12.8.1\treleased 2025-") for line in self.lines("release")))

    def test_what_cannot_be_listed(self):
        self.assert_fails(self.cudaenv("complete", "colour"), 2, '"colour"')
        self.assertEqual(self.lines("value", "mirror"), [])
        self.assertEqual(self.lines("value", "--", "-q"), [])

    def test_what_can_be_removed_is_more_than_what_can_be_used(self):
        (self.box.root / "versions" / "gone").symlink_to(self.box.top / "gone")
        self.assertIn(f"gone\tadopted from {self.box.top}/gone, missing", self.lines("toolkit"))
        self.assertFalse(any(line.startswith("gone") for line in self.lines("spec")))

    def test_hostile_names_are_not_offered_and_hostile_paths_are_escaped(self):
        for name in ("a b", "x$(id)", "y`id`", "z;id", "\x1b[31m", "'q'", "new\nline", "t\tab", "st*r"):
            self.box.tool(self.new / "bin", name)
            self.box.toolkit(name)
        odd = self.box.tool("opt/\x1b[31m\t\n/bin", "nvcc").parents[1]
        (self.box.root / "versions" / "odd").symlink_to(odd)
        self.assertEqual([line.partition("\t")[0] for line in self.lines("tool")], ["nvcc", "nvlink", "ptxas"])
        toolkits = self.lines("toolkit")
        self.assertEqual([line.partition("\t")[0] for line in toolkits], [*INSTALLED, "odd"])
        self.assertIsNone(re.search(r"[\x00-\x08\x0b-\x1f\x7f]", "".join(toolkits)))

    def test_take_no_longer_than_version(self):
        def fastest(*command):
            times = []
            for _ in range(20):
                start = time.perf_counter()
                self.cudaenv(*command)
                times.append(time.perf_counter() - start)
            return min(times)

        for kind in ("spec", "release", "component", "tool", "key"):
            self.assertLess(fastest("complete", kind), 2 * fastest("version") + 0.005, kind)


class InShell(CompletionTest):
    """The same in each shell."""

    name = ""

    def assert_offers(self, line, words, **options):
        self.assertEqual(sorted(self.offered(self.name, line, **options)), sorted(words), line)

    def assert_all_offered(self, line, words):
        self.assertEqual(set(words) - set(self.offered(self.name, line)), set(), line)

    def test_every_command_that_is_shown(self):
        self.assert_offers("cudaenv ", self.commands())
        self.assert_offers("cudaenv help ", self.commands())
        self.assert_offers("cudaenv --color never wh", ["which", "whence"])

    def test_every_option_that_is_shown(self):
        self.assert_all_offered("cudaenv --", self.help_lines(pattern=r"^ +(?:-\w, )?(--[a-z]+)"))
        for command in set(self.commands()) - {"help"}:
            self.assert_all_offered(f"cudaenv {command} --", self.help_lines(command, pattern=r"^ +(?:-\w,)?(--[a-z-]+)"))
        self.assertNotIn("--shim", self.offered(self.name, "cudaenv exec --"))

    def test_an_alias_is_completed_as_what_it_stands_for(self):
        self.assert_all_offered("cudaenv list --", ["--bare", "--json"])

    def test_toolkits(self):
        for command in ("local", "global", "shell", "env", "prefix", "pin", "exec -v", "exec --version", "-q local", "local --force"):
            self.assert_offers(f"cudaenv {command} ", SPECS)
        for command in ("uninstall", "uninstall 12.4.1", "check", "check 12.4.1"):
            self.assert_offers(f"cudaenv {command} ", INSTALLED)
        self.assert_offers("cudaenv exec --version=12.4", ["12.4.1"])

    def test_releases_components_and_tools(self):
        self.assert_all_offered("cudaenv install 12", ["12.0.0", "12.4.1", "12.8.1"])
        self.assertEqual([word for word in self.offered(self.name, "cudaenv install 12") if not word.startswith("12.")], [])
        self.assert_all_offered("cudaenv install ", ["latest", "auto"])
        self.assert_all_offered("cudaenv install --with cuda_", ["cuda_nvcc", "cuda_cudart"])
        self.assert_all_offered("cudaenv install 12.8 --without cuda_", ["cuda_nvcc", "cuda_cudart"])
        self.assert_offers("cudaenv which nv", ["nvcc", "nvlink"])
        self.assert_offers("cudaenv whence pt", ["ptxas"])

    def test_several_components_in_one_word(self):
        words = [word.rpartition(",")[2] for word in self.offered(self.name, "cudaenv install --with cuda_nvcc,libcub")]
        self.assertEqual(words, ["libcublas"])

    def test_settings(self):
        for action in ("get", "set", "unset"):
            self.assert_all_offered(f"cudaenv config {action} ", ["gate.mode", "env.library_path", "mirror"])
        self.assert_offers("cudaenv config ", ["get", "set", "unset", "list"])
        self.assert_offers("cudaenv config set gate.mode ", ["on", "warn", "off"])
        self.assert_offers("cudaenv config set env.compiler_paths t", ["true"])

    def test_words(self):
        self.assert_offers("cudaenv install --profile ", ["minimal", "default", "full"])
        self.assert_offers("cudaenv install --profile=m", ["minimal"])
        self.assert_offers("cudaenv install --platform linux-s", ["linux-sbsa"])
        self.assert_offers("cudaenv --color ", ["auto", "always", "never"])
        self.assert_offers("cudaenv completions ", ["bash", "zsh", "fish"])

    def test_a_program_to_run_is_completed_as_by_itself(self):
        self.box.tool("bin", "some-program")
        env = {"PATH": f"{self.box.top}/bin:{self.box.environment['PATH']}"}
        for line in ("exec", "exec --", "exec -v 12.4", "-q exec -v 12.4 --"):
            self.assert_offers(f"cudaenv {line} some-pr", ["some-program"], env=env)

    def test_directories(self):
        for name in ("dir-one", "dir-two"):
            self.box.write(self.box.project / name / "file")
        self.box.write(self.box.project / "dir-file")
        self.assertEqual([word.rstrip("/") for word in sorted(self.offered(self.name, "cudaenv adopt dir-"))], ["dir-one", "dir-two"])

    def test_what_is_not_ours_is_left_alone(self):
        for line in ("frobnicate", "config frobnicate", "check --driver", "adopt --name", "complete"):
            self.assert_offers(f"cudaenv {line} ", [])

    def test_the_integration_brings_it_along(self):
        for line, words in (("cudaenv local ", SPECS), ("cudaenv wh", ["which", "whence"]), ("cudaenv local --un", ["--unset"])):
            self.assert_offers(line, words, by="integration", env={"PATH": "/usr/bin:/bin"})

    def test_nothing_is_told_of_a_root_that_is_not_there_or_not_right(self):
        for root in (str(self.box.top / "none"), "not/absolute"):
            self.assertNotIn("12.8.1", self.offered(self.name, "cudaenv local ", env={"CUDAENV_ROOT": root}))


for shell in FILES:
    name = f"InShell_{shell}"
    globals()[name] = type(name, (InShell,), {"name": shell, "__module__": __name__})
del InShell


class Lazy(CompletionTest):
    def test_a_program_that_has_gone_leaves_a_quiet_shell(self):
        self.box.write("bin/cudaenv", PROGRAM.read_bytes(), 0o755)
        gone = f"{self.box.top}/bin/cudaenv"
        for shell, source, last in (("bash", f'eval "$({gone} init bash)"', BASH),
                                    ("fish", f"{gone} init fish | source", "complete -C 'cudaenv local '")):
            program = self.shell(shell)
            self.box.write("bin/cudaenv", PROGRAM.read_bytes(), 0o755)
            script = f"{source}\nrm {gone}\n{last}"
            result = self.box.run(program, "-c", script, *(["bash", "cudaenv", "local", ""] if shell == "bash" else []))
            self.assertEqual((result.stdout, result.stderr), (b"", b""), shell)

    def test_bash_loads_it_with_comments_switched_off(self):
        script = f'shopt -u interactive_comments; eval "$({PROGRAM} init bash)"\n{BASH}\nshopt interactive_comments'
        result = self.box.run(self.shell("bash"), "--norc", "--noprofile", "-i", "-c", script, "bash", "cudaenv", "config", "g")
        self.assertEqual(result.stdout.decode().split(), ["get", "interactive_comments", "off"])


if __name__ == "__main__":
    unittest.main()
