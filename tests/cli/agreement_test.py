#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that selects gives the same answer: tests/data/selection_cases.json through the real shim and,
where it is built, through `cudaenv version` and `cudaenv which`."""

import json
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import NOBODY, PROGRAM, Sandbox

CASES = json.loads((Path(__file__).resolve().parents[1] / "data" / "selection_cases.json").read_text())["cases"]
TOOL = "nvtool"
TOOLKITS = ("11.8.0", "12.4.1", "12.9.0", "12.10.0")
# Kind of error: exit code of `cudaenv version`, and what every message says. A shim exits 127 for each.
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
        self.cwd = self.path(case.get("cwd", "home/project/src")) + "/d" * case.get("deeper", 0)
        os.makedirs(self.cwd, exist_ok=True)

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

    def run(self, *command):
        variables = self.case.get("variables", {})
        env = {name: name_of(value).replace("{top}", str(self.top)) for name, value in variables.items()}
        env["CUDAENV_SHARED_ROOT"] = f"{self.top}/shared"
        env["PATH"] = f"{self.box.shims}:{self.top}/usr:/usr/bin:/bin"
        if "PWD" in self.case:
            env["PWD"] = self.path(self.case["PWD"]) if self.case["PWD"] is not None else None
        else:
            env["PWD"] = self.cwd
        reader = {}
        if self.case.get("unreadable") and os.geteuid() == 0:  # root reads everything
            reader = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return self.box.run(*command, cwd=self.cwd, env=env, **reader)

    def tool(self):
        """The path of the tool that the case expects to be run."""
        expect = self.case["expect"]
        if expect == "system":
            return f"{self.top}/usr/{TOOL}"
        root = self.case.get("variables", {}).get("CUDAENV_ROOT", "{top}/home/.cudaenv").replace("{top}", str(self.top))
        if expect.startswith("shared:"):
            root, expect = f"{self.top}/shared", expect[len("shared:"):]
        return f"{root}/versions/{expect}/bin/{TOOL}"


def escaped(path):
    """A path as messages show it: control characters and stray bytes as \\xNN."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown)


class Agreement(unittest.TestCase):
    def prepare(self, case):
        tree = Tree(case)
        self.addCleanup(tree.box.close)
        return tree

    def check_error(self, tree, result, status):
        error = result.stderr.decode("utf-8", "backslashreplace")
        self.assertEqual((result.returncode, result.stdout), (status, b""), error)
        self.assertTrue(any(words in error for words in ERRORS[tree.case["expect"]][1]), error)
        if "origin" in tree.case:
            self.assertIn(escaped(tree.path(tree.case["origin"])), error)
        return error

    def check_shim(self, case):
        tree = self.prepare(case)
        result = tree.run(tree.box.shim(TOOL))
        if case["expect"] in ERRORS:
            self.check_error(tree, result, 127)
        else:
            self.assertEqual((os.fsdecode(result.stdout), result.stderr), (f"{tree.tool()}\n", b""))
            self.assertEqual(result.returncode, 0)

    def check_program(self, case):
        if not PROGRAM.exists():
            self.skipTest(f"{PROGRAM} is not built")
        tree = self.prepare(case)
        try:
            version, which = tree.run(PROGRAM, "version"), tree.run(PROGRAM, "which", TOOL)
        except PermissionError:
            self.skipTest(f"another user cannot reach {PROGRAM}")
        if case["expect"] in ERRORS:
            told = self.check_error(tree, which, ERRORS[case["expect"]][0])
            self.assertEqual(version.returncode, ERRORS[case["expect"]][0], version.stderr)
            if case["expect"] != "bad_root":  # there the program knows the passwd home too
                shim = self.check_error(tree, tree.run(tree.box.shim(TOOL)), 127)
                self.assertIn(shim.splitlines()[0].removeprefix("cudaenv: "), told)
            return
        self.assertEqual(version.returncode, 0, version.stderr)
        self.assertEqual(version.stdout.split()[0].decode(), case["expect"].removeprefix("shared:"))
        if "origin" in case:
            self.assertIn(escaped(tree.path(case["origin"])), version.stdout.decode("utf-8", "backslashreplace"))
        self.assertEqual((which.returncode, os.fsdecode(which.stdout)), (0, f"{tree.tool()}\n"), which.stderr)


def add_tests():
    for case in CASES:
        for program in ("shim", "program"):
            def test(self, check=f"check_{program}", case=case):
                getattr(self, check)(case)
            setattr(Agreement, f"test_{case['name']}_{program}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
