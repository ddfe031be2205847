#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv` as the function of the integration: `cudaenv shell`, and what the other commands do to this shell."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.shells import REFUSING, ShellTest, in_every_shell


@in_every_shell
class ShellCommand(ShellTest):
    def test_sets_and_unsets_for_this_shell(self):
        terminal = self.start(cwd=self.a)
        self.assert_quiet(terminal.run("cudaenv shell 12.8"))
        self.assertEqual(self.value(terminal, "CUDAENV_VERSION"), "12.8")
        self.assert_toolkit(terminal, self.new)
        self.assert_quiet(terminal.cd(self.box.home))
        self.assert_toolkit(terminal, self.new)
        self.assertEqual(terminal.output("cudaenv shell"), "12.8\n")
        self.assert_quiet(terminal.run("cudaenv shell --unset"))
        self.assert_nothing_is_active(terminal)
        self.assertIsNone(self.value(terminal, "CUDAENV_VERSION"))

    def test_system(self):
        terminal = self.start(cwd=self.a)
        self.assert_quiet(terminal.run("cudaenv shell system"))
        self.assert_nothing_is_active(terminal)

    def test_same_line(self):
        terminal = self.start(cwd=self.a)
        self.assertEqual(terminal.output("cudaenv shell 12.8; printenv CUDA_HOME"), f"{self.new}\n")

    def test_what_goes_wrong(self):
        terminal = self.start(cwd=self.a)
        for line, status, text in (("cudaenv shell 11.8", 4, "cudaenv install 11.8"), ("cudaenv shell ../x", 2, "../x"),
                                   ("cudaenv shell 12.8 --unset", 2, "not both")):
            self.assert_told(terminal.run(line), text, status=status)
            self.assertIsNone(self.value(terminal, "CUDAENV_VERSION"))
            self.assert_toolkit(terminal, self.old)
        self.assertEqual(terminal.run("cudaenv shell").status, 3)
        self.assertNotEqual(terminal.run("cudaenv shell --nonsense").status, 0)

    def test_help_is_shown_and_not_evaluated(self):
        terminal = self.start(cwd=self.a)
        answer = terminal.run("cudaenv shell --help")
        self.assertIn("usage: cudaenv shell", answer.output)
        self.assertEqual(answer.status, 0)
        self.assertNotIn("not found", answer.output)

    def test_force_for_what_the_gate_refuses(self):
        terminal = self.start(env=REFUSING)
        self.assert_told(terminal.run("cudaenv shell 12.4"), "470.57.02", "--force", status=5)
        self.assert_nothing_is_active(terminal)
        answer = terminal.run("cudaenv shell 12.4 --force")
        self.assertEqual(answer.status, 0, answer.output)
        self.assert_toolkit(terminal, self.old)
        self.assert_quiet(terminal.run("cudaenv shell --unset"))
        self.assert_nothing_is_active(terminal)
        self.assertIsNone(self.value(terminal, "CUDAENV_GATE"))

    def test_status_and_arguments_of_other_commands(self):
        terminal = self.start(cwd=self.a)
        self.assertEqual(terminal.run("cudaenv exec -- sh -c 'printf \"<%s>\" \"$@\"; exit 7' x 'a b' '' '*'"), ("<a b><><*>", 7))
        self.assertEqual(terminal.output("echo hello | cudaenv exec -- cat"), "hello\n")

    def test_local_acts_at_once(self):
        terminal = self.start(cwd=self.a)
        self.assertEqual(terminal.output("cudaenv local 12.8; printenv CUDA_HOME"), f"{self.new}\n")


if __name__ == "__main__":
    unittest.main()
