#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What runs at every prompt and every build starts without the network's libraries, and asks no network."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest

HEAVY = re.compile(r"lib(curl|archive|crypto|ssl|nghttp2|gnutls|xml2)\b")
COMMANDS = [["version"], ["versions"], ["versions", "--json"], ["which", "nvcc"], ["whence", "nvcc"], ["prefix"], ["root"], ["env"],
            ["local"], ["global"], ["exec", "nvcc"], ["config"], ["rehash"], ["help"], ["--version"],
            ["complete", "spec"], ["complete", "release"], ["complete", "tool"], ["completions", "zsh"]]


class StartUp(ProgramTest):
    def needed(self, *tool):
        """Output of a tool that lists the libraries of the program."""
        if not shutil.which(tool[0]):
            self.skipTest(f"no {tool[0]}")
        return subprocess.run([*tool, self.program], capture_output=True, text=True, check=True).stdout

    def test_program_is_not_linked_with_them(self):
        self.assertNotRegex(self.needed("readelf", "-d"), HEAVY)

    def test_nothing_it_is_linked_with_is_linked_with_them(self):
        self.assertNotRegex(self.needed("ldd"), HEAVY)

    def test_no_command_opens_them_or_a_socket(self):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        self.select("12.4")
        log = self.box.top / "trace"
        for command in COMMANDS:
            with self.subTest(command=command):
                result = self.box.run(shutil.which("strace"), "-f", "-qq", "-o", log, "-e", "trace=/^open,/^exec,socket,connect",
                                      self.program, *command)
                if not log.exists() or b"ptrace" in result.stderr.lower():
                    self.skipTest(f"strace does not work here: {result.stderr.decode()}")
                self.assertEqual(result.returncode, 0, result.stderr)
                calls = log.read_text(errors="replace")
                self.assertIn("execve(", calls)
                self.assertNotRegex(calls, HEAVY)
                self.assertNotRegex(calls, r"\b(socket|connect)\(")
                self.assertNotIn("cudaenv-installer", calls)
                self.assertNotIn("nvidia-smi", calls)
                self.assertNotRegex(calls, r"locale|/etc/passwd", "costs time at every prompt")


if __name__ == "__main__":
    unittest.main()
