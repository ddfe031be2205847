#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command shim is as a file: small, and in need of nothing."""

import platform
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.sandbox import SHIM

HAS_LIBC = platform.machine() != "x86_64"  # elsewhere it begins in a static libc
LARGEST = 2 * 1024 * 1024 if HAS_LIBC else 64 * 1024


class ShimFile(unittest.TestCase):
    def readelf(self, *options):
        if not shutil.which("readelf"):
            self.skipTest("no readelf")
        return subprocess.run(["readelf", "-W", *options, SHIM], capture_output=True, text=True, check=True).stdout

    def segments(self):
        """Kind and flags of each."""
        lines = re.findall(r"^  ([A-Z_]+) +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ (.{3}) ", self.readelf("-l"), re.M)
        self.assertTrue(lines)
        return lines

    def test_it_is_small(self):
        self.assertLess(SHIM.stat().st_size, LARGEST)

    def test_it_needs_no_loader_and_no_library(self):
        kinds = [kind for kind, _ in self.segments()]
        self.assertNotIn("INTERP", kinds)
        self.assertNotIn("DYNAMIC", kinds)
        self.assertNotIn("NEEDED", self.readelf("-d"))

    def test_nothing_is_left_to_be_found_or_moved(self):
        self.assertNotRegex(self.readelf("-s"), r"\bUND +[^ \n]")
        if not HAS_LIBC:
            self.assertIn("There are no relocations", self.readelf("-r"))

    def test_no_memory_can_be_both_written_and_run(self):
        for kind, flags in self.segments():
            self.assertFalse("W" in flags and "E" in flags, f"{kind} {flags}")

    def test_the_stack_cannot_be_run(self):
        self.assertEqual([flags for kind, flags in self.segments() if kind == "GNU_STACK"], ["RW "])

    def test_it_has_no_variables_of_threads_and_no_constructors(self):
        if HAS_LIBC:
            self.skipTest("libc has")
        self.assertNotRegex(self.readelf("-S"), r"\.(tdata|tbss|init_array|ctors|data|got|plt)\b")


if __name__ == "__main__":
    unittest.main()
