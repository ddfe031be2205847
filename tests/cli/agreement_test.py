#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that selects gives the same answer: tests/data/selection_cases.json through the real shim, through
`cudaenv version` and `cudaenv which`, and through the shell integration in bash. Whatever else comes to select is one
more class in COLUMNS."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import NOBODY, PROGRAM, Sandbox

IS_ROOT = os.geteuid() == 0

CASES = json.loads((Path(__file__).resolve().parents[1] / "data" / "selection_cases.json").read_text())["cases"]
TOOL = "nvtool"
TOOLKITS = ("11.8.0", "12.4.1", "12.9.0", "12.10.0")
# Kind of error: exit code of `cudaenv version`, and what every message says.
ERRORS = {"not_installed": (4, ("is not installed", "no toolkit is called")),
          "invalid": (2, ("is not a version", "is saved as UTF-16", "is larger than 64 KiB")),
          "unreadable": (8, ("cannot read",)),
          "bad_root": (2, ("CUDAENV_ROOT is",))}


def name_of(text):
    """A file name from a case: each character is a byte."""
    return os.fsdecode(text.encode("latin-1"))


class Tree:
    """A case, built on disk."""

    def __init__(self, case):
        self.box = Sandbox()
        self.case = case
        self.top = self.box.top
        self.build()
        self.cwd = self.path(case.get("cwd", "home/project/src"))
        os.makedirs(self.cwd, exist_ok=True)
        self.deeper, self.part = case.get("deeper", 0), "d" * case.get("longer", 1)
        self.go_deeper()

    def close(self):
        subprocess.run(["rm", "-rf", f"{self.cwd}/{self.part}"], check=False)  # there may be no path to the end of it
        self.box.close()

    @property
    def has_no_right(self):
        return "unreadable" in self.case or "closed" in self.case

    def go_deeper(self):
        """Step by step, as there may be no path that leads there."""
        place = os.open(self.cwd, os.O_RDONLY)
        for _ in range(self.deeper):
            os.mkdir(self.part, dir_fd=place)
            above, place = place, os.open(self.part, os.O_RDONLY, dir_fd=place)
            os.close(above)
        os.close(place)

    def path(self, text):
        return f"{self.top}/{name_of(text)}"

    def build(self):
        self.box.tool("usr", TOOL)
        for name in (*TOOLKITS, *self.case.get("toolkits", ())):
            self.box.toolkit(name, [TOOL])
        for name in self.case.get("shared", ()):
            self.box.toolkit(name, [TOOL], root=self.top / "shared")
        for root, names in self.case.get("other", {}).items():
            for name in names:
                self.box.toolkit(name, [TOOL], root=self.top / root)
        for name in self.case.get("adopted", ()):
            self.box.tool(f"adopted/{name}/bin", TOOL)
            (self.box.root / "versions" / name).symlink_to(self.top / "adopted" / name)
        for path in self.case.get("directories", ()):
            os.makedirs(self.path(path))
        for path, content in self.case.get("files", {}).items():
            if isinstance(content, dict):
                content = content["text"].ljust(content["filled_to"], "#")
            self.box.write(name_of(path), content)
        for path in self.case.get("fifos", ()):
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            os.mkfifo(self.path(path))
        for path, target in self.case.get("links", {}).items():
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            os.symlink(name_of(target), self.path(path))
        for path in self.case.get("unreadable", ()):
            self.box.write(name_of(path), "12.4", 0)
        for path in self.case.get("closed", ()):
            os.chmod(self.path(path), 0)

    def variables(self):
        variables = {name: value if value is None else name_of(value).replace("{top}", str(self.top))
                     for name, value in self.case.get("variables", {}).items()}
        shown = self.case.get("PWD", "")
        shown = self.cwd + f"/{self.part}" * self.deeper if shown == "" else shown and self.path(shown)
        return {"CUDAENV_SHARED_ROOT": f"{self.top}/shared", "PATH": f"{self.box.shims}:{self.top}/usr:/usr/bin:/bin",
                "PWD": shown, **variables}

    def run(self, *command):
        before, options = [], {}
        if self.deeper:
            walk = ("import os, sys\nfor _ in range(int(sys.argv[1])): os.chdir(sys.argv[2])\n"
                    "os.execv(sys.argv[3], sys.argv[3:])")
            before = [sys.executable, "-c", walk, self.deeper, self.part]
        if self.case.get("removed"):
            os.makedirs(self.cwd, exist_ok=True)
            before = ["/bin/sh", "-c", 'rmdir "$0" && exec "$@"', self.cwd]
        if self.case.get("privileged") or (self.has_no_right and IS_ROOT):  # root reads everything
            options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return self.box.run(*map(str, before), *command, cwd=self.cwd, env=self.variables(), **options)

    def tool(self):
        """The path of the tool that the case expects to be run."""
        expect = self.case["expect"]
        if expect == "system":
            return f"{self.top}/usr/{TOOL}"
        variables = {} if self.case.get("privileged") else self.case.get("variables", {})
        root = variables.get("CUDAENV_ROOT", "{top}/home/.cudaenv").replace("{top}", str(self.top))
        if expect.startswith("shared:"):
            root, expect = f"{self.top}/shared", expect[len("shared:"):]
        return f"{root}/versions/{expect}/bin/{TOOL}"


def escaped(path):
    """A path as messages show it: control characters and stray bytes as \\xNN."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown)


# What one of those that select answers: the path of the tool that it came to, None if to none; what it told; its exit
# status.
Answer = namedtuple("Answer", "tool error status")


def answer_of(result):
    tool = os.fsdecode(result.stdout).removesuffix("\n") or None
    return Answer(tool, result.stderr.decode("utf-8", "backslashreplace"), result.returncode)


class Column:
    """One of those that select. `ask` answers for a Tree; `status` is the exit status for a kind of error."""

    serves_privileged = False  # whether a case can be tried with more rights than the caller has

    @staticmethod
    def why_not(tree):
        """Why a case cannot be tried, None if it can."""
        if not PROGRAM.exists():
            return f"{PROGRAM} is not built"
        try:
            tree.run(PROGRAM, "--version")
        except PermissionError:
            return f"another user cannot reach {PROGRAM}"

    @staticmethod
    def after_error(_tree):
        """The tool that it comes to nevertheless."""
        return None


class Shim(Column):
    serves_privileged = True

    @staticmethod
    def why_not(tree):
        if tree.case.get("privileged") and not IS_ROOT:
            return "needs root, to make a set-uid program"
        if tree.case.get("privileged") and os.statvfs(tree.top).f_flag & os.ST_NOSUID:
            return "the temporary directory is mounted nosuid"

    @staticmethod
    def ask(tree):
        shim = tree.box.shim(TOOL)
        if tree.case.get("privileged"):
            shim.chmod(0o4755)
        return answer_of(tree.run(shim))

    @staticmethod
    def status(_kind):
        return 127


class Program(Column):
    @staticmethod
    def ask(tree):
        return answer_of(tree.run(PROGRAM, "which", TOOL))

    @staticmethod
    def status(kind):
        return ERRORS[kind][0]


class Hook(Column):
    """The tool that bash finds once the integration has run as before a prompt. There is no shim of that name here."""

    SCRIPT = 'eval "$("$0" init bash)"; eval "${PROMPT_COMMAND-}"; "$1"'

    @classmethod
    def why_not(cls, tree):
        return super().why_not(tree) if shutil.which("bash") else "no bash"

    @classmethod
    def ask(cls, tree):
        return answer_of(tree.run(shutil.which("bash"), "--noprofile", "--norc", "-c", cls.SCRIPT, PROGRAM, TOOL))

    @staticmethod
    def status(_kind):
        return 0  # the next command is the person's

    @staticmethod
    def after_error(tree):
        return f"{tree.top}/usr/{TOOL}"


COLUMNS = {"shim": Shim, "program": Program, "hook": Hook}


class Agreement(unittest.TestCase):
    def prepare(self, case):
        tree = Tree(case)
        self.addCleanup(tree.close)
        return tree

    def check(self, case, column):
        tree = self.prepare(case)
        reason = column.why_not(tree)
        if reason:
            self.skipTest(reason)
        answer, expect = column.ask(tree), case["expect"]
        if expect in ERRORS:
            expected = column.after_error(tree), column.status(expect)
            self.assertEqual((answer.tool, answer.status), expected, answer.error)
            self.check_error(tree, answer.error)
        else:
            self.assertEqual((answer.tool, answer.status), (tree.tool(), 0), answer.error)

    def check_error(self, tree, error):
        self.assertTrue(any(words in error for words in ERRORS[tree.case["expect"]][1]), error)
        if "origin" in tree.case:
            self.assertIn(escaped(tree.path(tree.case["origin"])), error)

    def test_a_shim_has_nothing_to_say_but_errors(self):
        for case in CASES:
            # The tool is a script, and a shell complains of a directory that is not there.
            if case["expect"] not in ERRORS and not case.get("privileged") and not case.get("removed"):
                with self.subTest(case["name"]):
                    self.assertEqual(Shim.ask(self.prepare(case)).error, "")

    def test_program_and_shim_have_the_same_words(self):
        for case in CASES:
            if case["expect"] in ERRORS and case["expect"] != "bad_root":  # there the program knows the passwd home too
                with self.subTest(case["name"]):
                    tree = self.prepare(case)
                    reason = Program.why_not(tree)
                    if reason:
                        self.skipTest(reason)
                    shim = Shim.ask(tree).error
                    self.assertIn(shim.splitlines()[0].removeprefix("cudaenv: "), Program.ask(tree).error)

    def test_the_program_names_the_origin(self):
        for case in CASES:
            if case.get("privileged"):
                continue
            with self.subTest(case["name"]):
                tree = self.prepare(case)
                reason = Program.why_not(tree)
                if reason:
                    self.skipTest(reason)
                result, expect = tree.run(PROGRAM, "version"), case["expect"]
                self.assertEqual(result.returncode, ERRORS[expect][0] if expect in ERRORS else 0, result.stderr)
                if expect in ERRORS:
                    continue
                self.assertEqual(result.stdout.split()[0].decode(), expect.removeprefix("shared:"))
                if "origin" in case:
                    self.assertIn(escaped(tree.path(case["origin"])), result.stdout.decode("utf-8", "backslashreplace"))


def add_tests():
    for case in CASES:
        for name, column in COLUMNS.items():
            if case.get("privileged") and not column.serves_privileged:
                continue

            def test(self, case=case, column=column):
                self.check(case, column)
            setattr(Agreement, f"test_{case['name']}_{name}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
