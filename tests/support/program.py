# SPDX-License-Identifier: Apache-2.0
"""What tests of the program share: a sandbox with two toolkits, and words for what the program answers."""

import os
import re
import unittest

from support.sandbox import NOBODY, PROGRAM, Sandbox

IS_ROOT = os.geteuid() == 0
# As somebody who may not read or write everything; root may.
AS_USER = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT else {}


class ProgramTest(unittest.TestCase):
    maxDiff = None
    program = PROGRAM

    def setUp(self):
        if not PROGRAM.exists():
            self.skipTest(f"{PROGRAM} is not built")
        self.box = Sandbox()
        self.addCleanup(self.box.close)
        self.old = self.box.toolkit("12.4.1", ["nvcc", "ptxas"])
        self.new = self.box.toolkit("12.8.1", ["nvcc", "ptxas"])

    def select(self, text, directory=None):
        return self.box.write((directory or self.box.project) / ".cuda-version", text)

    def cudaenv(self, *arguments, **options):
        return self.box.run(PROGRAM, *arguments, **options)

    def as_user(self, *arguments, **options):
        """The same as another user, where the test itself runs as root."""
        try:
            return self.cudaenv(*arguments, **AS_USER, **options)
        except PermissionError:
            self.skipTest(f"another user cannot reach {PROGRAM}")

    def tree(self, top=None):
        """Every path below a directory, with what tells whether it was changed."""
        top = top or self.box.top
        return {str(path): (path.lstat()[:7], path.lstat().st_mtime_ns) for path in sorted(top.rglob("*"))}

    def assert_prints(self, result, stdout, stderr=""):
        found = (result.returncode, os.fsdecode(result.stdout), os.fsdecode(result.stderr))
        self.assertEqual(found, (0, stdout, stderr))

    def assert_fails(self, result, status, *patterns):
        """One error, told on stderr alone, without control bytes."""
        error = result.stderr.decode("utf-8", "backslashreplace")
        self.assertEqual((result.returncode, result.stdout), (status, b""), error)
        self.assertTrue(error.startswith("cudaenv: "), error)
        self.assertEqual(error.count("cudaenv: "), 1, error)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", error), error)
        for pattern in patterns:
            self.assertIn(str(pattern), error)
        return error
