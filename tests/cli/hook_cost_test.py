#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a prompt costs, by the system calls of the real shells: nothing is started, nothing opened that need not be."""

import os
import re
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import BUILD
from support.shells import ShellTest, in_every_shell

HOOK = BUILD / "libexec/cudaenv/cudaenv-hook"
CALLS = "trace=openat,open,execve,fork,vfork,clone,clone3"
PROMPTS = 50
OPENED = re.compile(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)"')


@in_every_shell
class Cost(ShellTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("no strace on this machine")
        self.log = self.box.top / "strace"

    def traced(self, directory, lines):
        """The calls between the first prompt there and the last one. `cd` is done before."""
        return [call for calls in self.traced_by_line(directory, lines) for call in calls]

    def traced_by_line(self, directory, lines):
        terminal = self.start(cwd=directory, prefix=["strace", "-f", "-qq", "-o", str(self.log), "-e", CALLS])
        terminal.run("")
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(0, os.SEEK_END)
            for line in lines:
                self.assert_quiet(terminal.run(line))
                yield log.read().splitlines()

    def starts(self, calls):
        """Processes, not threads, and programs."""
        return [call for call in calls if re.search(r"\b(execve|fork|vfork|clone3?)\(", call) and "CLONE_THREAD" not in call]

    def opened(self, calls):
        return {match[1] for call in calls for match in [OPENED.search(call)] if match}

    def test_fifty_prompts_in_a_project(self):
        calls = self.traced(self.a, [""] * PROMPTS)
        self.assertEqual(self.starts(calls), [])
        self.assertEqual(self.opened(calls), {f"{self.a}/.cuda-version"})

    def test_fifty_prompts_twelve_levels_deep_without_a_file(self):
        deep = self.box.home.joinpath(*"abcdefghijkl")
        for directory in (self.a, self.b):
            (directory / ".cuda-version").unlink()
        deep.mkdir(parents=True)
        calls = self.traced(deep, [""] * PROMPTS)
        self.assertEqual(calls, [])

    def test_global_file_is_all_that_is_read_elsewhere(self):
        self.cudaenv("global", "12.4")
        calls = self.traced(self.box.home, [""] * PROMPTS)
        self.assertEqual(self.starts(calls), [])
        self.assertEqual(self.opened(calls), {f"{self.box.root}/version"})

    def test_a_told_fault_starts_nothing_either(self):
        self.select("11.8\n", self.a)
        calls = self.traced(self.a, [""] * PROMPTS)
        self.assertEqual(self.starts(calls), [])

    def test_moving_about_in_one_project_starts_nothing(self):
        for name in ("x", "y"):
            (self.a / name).mkdir()
        calls = self.traced(self.a, [f"cd {self.a}/{name}" for name in "xyxy"])
        self.assertEqual(self.starts(calls), [])

    def test_a_switch_starts_one_process(self):
        for directory in (self.a, self.b):  # the gate asks an installed toolkit once, and keeps what it says
            self.cudaenv("env", "--hook", cwd=directory)
        there = [f"cd {self.b}", f"cd {self.box.home}", f"cd {self.a}"]
        for line, calls in zip(there * 2, self.traced_by_line(self.a, there * 2)):
            with self.subTest(line=line):
                self.assertEqual(len([call for call in self.starts(calls) if "execve(" not in call]), 1, calls)

    def test_a_switch_made_before_does_without_the_program(self):
        there = [f"cd {self.b}", f"cd {self.box.home}", f"cd {self.a}"]
        for line, calls in list(zip(there * 2, self.traced_by_line(self.a, there * 2)))[len(there):]:
            programs = [call for call in calls if "execve(" in call]
            with self.subTest(line=line):
                self.assertEqual(len(programs), 1, programs)
                self.assertIn(f'execve("{HOOK}"', programs[0])


if __name__ == "__main__":
    unittest.main()
