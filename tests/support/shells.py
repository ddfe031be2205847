# SPDX-License-Identifier: Apache-2.0
"""Tests of the shell integration: each in all three shells, interactive on a terminal."""

import sys

from support.program import ProgramTest
from support.sandbox import PROGRAM
from support.terminal import SHELLS, Terminal, available, quote

# What a selected toolkit may set.
VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX", "CUDAENV_ACTIVE", "CUDAENV_OUTSIDE", "LD_LIBRARY_PATH", "CPATH",
             "LIBRARY_PATH")
REFUSING = {"CUDAENV_OVERRIDE_DRIVER": "470.57.02", "CUDAENV_OVERRIDE_GPUS": "8.6"}  # nothing of 12 and newer


def in_shells(*shells):
    """A class of tests for each of these shells, in place of the one that is written down."""

    def make(test):
        for shell in shells:
            name = f"{test.__name__}_{shell}"
            setattr(sys.modules[test.__module__], name, type(name, (test,), {"shell": shell, "__module__": test.__module__}))
        return None

    return make


in_every_shell = in_shells(*SHELLS)


class ShellTest(ProgramTest):
    shell = ""

    def setUp(self):
        super().setUp()
        if not available(self.shell):
            self.skipTest(f"no {self.shell}")
        # In the C locale fish does not pass on the bytes of a variable as they are.
        self.box.environment["LC_ALL"] = "C.UTF-8"
        self.a, self.b = self.box.home / "a", self.box.home / "b"
        self.select("12.4\n", self.a)
        self.select("12.8\n", self.b)

    @property
    def source(self):
        """What a person writes into the file that the shell reads at its start."""
        word = quote(self.shell, PROGRAM)
        return f"{word} init fish | source" if self.shell == "fish" else f'eval "$({word} init {self.shell})"'

    def start(self, before="", after="", env=None, cwd=None, **options):
        """A shell with the integration, in a directory without any version file. `before` and `after` it: further text."""
        variables = {**self.box.environment, **(env or {})}
        terminal = Terminal(self.shell, f"{before}\n{self.source}\n{after}", variables, cwd or self.box.home, **options)
        self.addCleanup(terminal.close)
        return terminal

    def active(self, terminal):
        return self.value(terminal, "CUDAENV_ACTIVE")

    def value(self, terminal, name):
        """The value of an exported variable, None if it is not there."""
        return terminal.environment().get(name)

    def each(self, bash_and_zsh, fish):
        return fish if self.shell == "fish" else bash_and_zsh

    def assert_quiet(self, answer, status=0):
        self.assertEqual((answer.output, answer.status), ("", status))

    def assert_told(self, answer, *texts, status=0):
        """One error, for the person."""
        self.assertEqual(answer.output.count("cudaenv: "), 1, answer.output)
        for text in texts:
            self.assertIn(str(text), answer.output)
        self.assertEqual(answer.status, status)

    def assert_nothing_is_active(self, terminal):
        environment = terminal.environment()
        self.assertEqual([name for name in VARIABLES if name in environment], [])
        self.assertNotIn("/versions/", environment["PATH"])

    def assert_toolkit(self, terminal, directory):
        environment = terminal.environment()
        self.assertEqual((environment.get("CUDA_HOME"), environment.get("CUDAENV_ACTIVE")), (str(directory), directory.name))
        path = environment["PATH"].split(":")
        self.assertEqual([entry for entry in path if "/versions/" in entry], [f"{directory}/bin"])
        self.assertEqual(path[0], f"{directory}/bin")
