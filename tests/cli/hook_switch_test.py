#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When the hook switches, what it tells then and what it leaves alone."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import AS_USER, IS_ROOT
from support.sandbox import PROGRAM
from support.shells import REFUSING, ShellTest, in_every_shell
from support.terminal import Terminal, quote

NAMES = ("a b", "it's", 'say "x"', "line\nend", "end\n", "*?[x]{y,z}~", "$HOME $(id) `id`", "-n", "#a", "back\\slash", "caf\u00e9", "\udce9\udcff",
         "a;b&c|d", "\x01\x7f\t", "%s", "|x|", " ")


@in_every_shell
class When(ShellTest):
    def test_HOOK_07_edit_takes_effect_at_the_next_prompt(self):
        terminal = self.start(cwd=self.a)
        self.assert_quiet(terminal.run("echo 12.8 > .cuda-version" if self.shell != "zsh" else "echo 12.8 >| .cuda-version"))
        self.assert_toolkit(terminal, self.new)
        self.select("12.4", self.a)  # by somebody else, within the same second and of the same size
        terminal.run("")
        self.assert_toolkit(terminal, self.old)

    def test_HOOK_07_new_and_removed_files(self):
        deep = self.a / "x" / "y"
        deep.mkdir(parents=True)
        terminal = self.start(cwd=deep)
        self.assert_toolkit(terminal, self.old)
        self.select("12.8", deep.parent)
        self.assert_quiet(terminal.run(""))
        self.assert_toolkit(terminal, self.new)
        (deep.parent / ".cuda-version").unlink()
        self.assert_quiet(terminal.run(""))
        self.assert_toolkit(terminal, self.old)
        (self.a / ".cuda-version").unlink()
        self.assert_quiet(terminal.run(""))
        self.assert_nothing_is_active(terminal)

    def test_HOOK_07_git_checkout_of_a_file_in_a_parent(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        git = ["git", "-C", str(self.a), "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"], ["checkout", "-qb", "other"]):
            subprocess.run(git + command, check=True, stdout=subprocess.DEVNULL)
        self.select("12.8\n", self.a)
        subprocess.run(git + ["commit", "-qam", "two"], check=True)
        (self.a / "sub").mkdir()
        terminal = self.start(cwd=self.a / "sub")
        self.assert_toolkit(terminal, self.new)
        for branch, toolkit in (("main", self.old), ("other", self.new)):
            self.assert_quiet(terminal.run(f"git checkout -q {branch}"))
            self.assert_toolkit(terminal, toolkit)

    def test_HOOK_07_same_line(self):
        self.box.shim("nvcc")
        terminal = self.start()
        for directory, toolkit in ((self.a, self.old), (self.b, self.new), (self.a, self.old)):
            self.assertEqual(terminal.output(f"cd {directory} && nvcc"), f"{toolkit}/bin/nvcc\n")
            terminal.cd(self.box.home)

    def test_HOOK_07_same_line_by_the_hook_itself(self):
        if self.shell == "bash":
            self.skipTest("bash has nothing to be told of a cd by")
        terminal = self.start()
        self.assertEqual(terminal.output(f"cd {self.a} && printenv CUDA_HOME; cd {self.b} && printenv CUDA_HOME; cd"), f"{self.old}\n{self.new}\n")
        self.assert_nothing_is_active(terminal)

    def test_HOOK_07_start_in_a_pinned_directory(self):
        terminal = self.start(cwd=self.a)
        self.assertEqual(terminal.greeting, "")
        self.assert_toolkit(terminal, self.old)

    def test_HOOK_07_substitutions_and_subshells_change_nothing(self):
        if self.shell == "fish":
            self.skipTest("fish has no subshells: a cd in a substitution is one for good")
        terminal = self.start()
        terminal.run(f"x=$(cd {self.a}; pwd); (cd {self.b})")
        self.assert_nothing_is_active(terminal)

    def test_global_selection(self):
        terminal = self.start(cwd=self.box.home)
        self.assert_nothing_is_active(terminal)
        self.assert_quiet(terminal.run("cudaenv global 12.4"))
        self.assert_toolkit(terminal, self.old)
        self.assert_quiet(terminal.cd(self.b))
        self.assert_toolkit(terminal, self.new)
        self.assert_quiet(terminal.cd("/"))
        self.assert_toolkit(terminal, self.old)
        self.assert_quiet(terminal.run("cudaenv global --unset"))
        self.assert_nothing_is_active(terminal)

    def test_comments_and_empty_files_lead_upward(self):
        inner = self.a / "inner"
        self.select("# nothing\n\n", inner)
        terminal = self.start()
        self.assertIn("is empty", terminal.cd(inner).output)
        self.assert_toolkit(terminal, self.old)
        self.select("12.8\n", self.a)
        terminal.run("")
        self.assert_toolkit(terminal, self.new)
        self.select("# that one\n12.4\n", inner)
        self.assert_quiet(terminal.run(""))
        self.assert_toolkit(terminal, self.old)

    def test_fifo_and_directory_of_that_name(self):
        inner, other = self.a / "inner", self.a / "other"
        inner.mkdir()
        os.mkfifo(inner / ".cuda-version")
        (other / ".cuda-version").mkdir(parents=True)
        terminal = self.start()
        for directory in (inner, other):
            terminal.cd(directory)
            self.assert_toolkit(terminal, self.old)
            terminal.cd(self.box.home)

    def test_directories_of_any_name(self):
        terminal = self.start()
        outside = terminal.environment()
        for name in NAMES:
            with self.subTest(name=name):
                place = Path(os.fsdecode(os.fsencode(str(self.box.home / "odd")) + b"/" + os.fsencode(name)))
                (place / name).mkdir(parents=True, exist_ok=True)
                (place / ".cuda-version").write_text("12.4\n")
                self.assert_quiet(terminal.cd(place / name))
                self.assert_toolkit(terminal, self.old)
                (place / ".cuda-version").write_text("12.8\n")
                self.assert_quiet(terminal.run(""))
                self.assert_toolkit(terminal, self.new)
                self.assert_quiet(terminal.cd(self.box.home))
                self.assertEqual(terminal.environment(), outside)

    def test_roots_of_any_name(self):
        for number, name in enumerate(NAMES):
            if "\n" in name or "\x01" in name:
                continue  # such a root is refused
            with self.subTest(name=name):
                root = self.box.top / str(number) / name
                toolkit = self.box.toolkit("12.4.1", root=root)
                env = {"CUDAENV_ROOT": str(root)}
                terminal = self.start(env=env)
                self.assertEqual(terminal.greeting, "")
                outside = terminal.environment()
                self.assert_quiet(terminal.cd(self.a))
                self.assert_toolkit(terminal, toolkit)
                self.assert_quiet(terminal.cd(self.box.home))
                self.assertEqual(terminal.environment(), outside)
                terminal.close()

    def test_the_path_that_the_person_sees_counts(self):
        link = self.b / "link"
        (self.a / "sub").mkdir()
        link.symlink_to(self.a / "sub")
        terminal = self.start()
        terminal.cd(link)
        self.assert_toolkit(terminal, self.new)
        terminal.cd(self.a / "sub")
        self.assert_toolkit(terminal, self.old)

    def test_what_was_evaluated_by_hand_stays(self):
        terminal = self.start(cwd=self.a)
        word = quote(self.shell, PROGRAM)
        terminal.run(self.each(f'eval "$({word} env 12.8 --shell {self.shell})"', f"{word} env 12.8 --shell fish | source"))
        self.assert_toolkit(terminal, self.new)
        terminal.cd(self.box.home)
        self.assert_nothing_is_active(terminal)


@in_every_shell
class Telling(ShellTest):
    def test_VER_07_missing_version_is_told_once(self):
        missing = self.box.home / "missing"
        self.select("11.8\n", missing)
        (missing / "sub").mkdir()
        terminal = self.start(cwd=self.a)
        self.assert_told(terminal.cd(missing), "11.8", missing / ".cuda-version", "cudaenv install 11.8")
        self.assert_nothing_is_active(terminal)
        for line in ("", "true", f"cd {missing}/sub", f"cd {missing}", "cudaenv version --help >/dev/null"):
            self.assert_quiet(terminal.run(line))
        self.assert_quiet(terminal.cd(self.a))
        self.assert_toolkit(terminal, self.old)
        self.assert_told(terminal.cd(missing), "11.8")
        self.assert_nothing_is_active(terminal)

    def test_VER_07_once_it_is_installed_it_is_active(self):
        missing = self.box.home / "missing"
        self.select("11.8\n", missing)
        terminal = self.start()
        terminal.cd(missing)
        directory = self.box.toolkit("11.8.0")
        self.assert_quiet(terminal.run("cudaenv rehash"))  # what an install ends with
        self.assert_toolkit(terminal, directory)

    def test_refusal_is_told_once_and_nothing_stays(self):
        refused = self.box.home / "refused"
        self.box.toolkit("11.4.0")
        self.select("11.4\n", refused)
        terminal = self.start(env=REFUSING, cwd=refused)
        self.assertEqual((terminal.greeting, self.active(terminal)), ("", "11.4.0"))
        self.assert_told(terminal.cd(self.a), "12.4.1", "470.57.02")
        self.assert_nothing_is_active(terminal)
        for line in ("", "true", "cudaenv versions --bare >/dev/null"):
            self.assert_quiet(terminal.run(line))
        self.assert_quiet(terminal.cd(refused))
        self.assertEqual(self.active(terminal), "11.4.0")

    def test_refusal_ends_with_the_gate(self):
        terminal = self.start(env=REFUSING)
        self.assert_told(terminal.cd(self.a))
        self.assert_quiet(terminal.export("CUDAENV_GATE", "off"))
        self.assert_toolkit(terminal, self.old)

    def test_bad_file_is_told_once(self):
        bad = self.box.home / "bad"
        for text in ("../../etc\n", "12.4;id\n", "$(touch /tmp/x)\n", "x" * 70000, "\xff\xfe1\x002\x00"):
            self.select(text, bad)
            terminal = self.start(cwd=self.a)
            self.assert_told(terminal.cd(bad), bad / ".cuda-version")
            self.assert_nothing_is_active(terminal)
            self.assert_quiet(terminal.run(""))
            self.select("12.8\n", bad)
            self.assert_quiet(terminal.run(""))
            self.assert_toolkit(terminal, self.new)
            terminal.close()

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_unreadable_file_is_told_once(self):
        self.select("12.4\n", self.box.home / "closed").chmod(0)
        self.box.shims.chmod(0o755)
        if shutil.which("setpriv") is None or subprocess.run(["setpriv", "--reuid", "65534", str(PROGRAM), "--version"],
                                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("another user cannot reach the program")
        terminal = self.start()
        shell = {"bash": "bash --norc --noprofile -c", "zsh": "zsh -f -c", "fish": "fish --no-config -c"}[self.shell]
        script = self.box.write("script", f"{self.source}\ncd {self.box.home}/closed\n" + "__cudaenv_hook\n" * 3)
        output = terminal.output(f"setpriv --reuid 65534 {shell} 'source {script}'")
        self.assertEqual(output.count("cudaenv: "), 1, output)
        self.assertIn("closed/.cuda-version", output)

    def test_directory_that_was_removed_and_made_again(self):
        terminal = self.start(cwd=self.a)
        shutil.rmtree(self.a)
        self.select("12.8", self.a)
        self.assert_quiet(terminal.run(""))
        self.assert_nothing_is_active(terminal)  # the shell is still in the one that is gone
        self.assert_quiet(terminal.run(f"cd {self.a}"))
        self.assert_toolkit(terminal, self.new)

    def test_directory_that_was_moved(self):
        terminal = self.start(cwd=self.a)
        terminal.run("")
        moved = self.a.with_name("moved")
        self.a.rename(moved)
        self.select("12.8", moved)
        self.assert_quiet(terminal.run(""))
        self.assert_toolkit(terminal, self.new)

    def test_broken_deputy_is_no_matter(self):
        for broken in ("/bin/false", self.box.tool("bin", "killed", "kill -9 $$"), "/not there"):
            terminal = self.start(after=f"__cudaenv_hook_program={quote(self.shell, str(broken))}" if self.shell != "fish" else
                                  f"set -g __cudaenv_hook_program {quote(self.shell, str(broken))}")
            for directory, toolkit in ((self.a, self.old), (self.b, self.new)):
                terminal.run(f"cd {directory}")
                self.assert_toolkit(terminal, toolkit)
            terminal.close()

    def test_missing_or_failing_program_leaves_a_usable_shell(self):
        program = self.box.top / "bin" / "cudaenv"
        program.parent.mkdir()
        shutil.copy(PROGRAM, program)
        text = self.box.run(program, "init", self.shell).stdout
        rc = self.box.write("text", text)
        source = f"source {rc}"
        for spoil in ("", "#!/bin/sh\nexit 3\n", "#!/bin/sh\necho false; echo 'syntax (\"'; exit 1\n", "#!/bin/sh\nkill -9 $$\n", "\x7fELF"):
            program.unlink()
            if spoil:
                self.box.write(program, spoil, 0o755)
            terminal = self.start_with(source)
            terminal.cd(self.a)
            terminal.cd(self.b)
            self.assert_quiet(terminal.run("true"))
            self.assertEqual(terminal.run("sh -c 'exit 5'"), ("", 5))
            self.assertEqual(terminal.output("echo still here"), "still here\n")
            self.assertNotEqual(terminal.run("cudaenv version").status, 0)
            self.assertNotEqual(terminal.run("cudaenv shell 12.4").status, 0)
            self.assertIsNone(self.active(terminal))
            terminal.close()
            self.box.write(program, "x", 0o755)

    def start_with(self, text):
        terminal = Terminal(self.shell, text, self.box.environment, self.box.home)
        self.addCleanup(terminal.close)
        return terminal


if __name__ == "__main__":
    unittest.main()
