#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`exec`: the command runs as if it had been started without us, but for the environment."""

import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest


class ExecTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.select("12.4")

    def exec(self, *arguments, **options):
        return self.cudaenv("exec", *arguments, **options)


class Choosing(ExecTest):
    def test_selected_toolkit(self):
        self.assert_prints(self.exec("--", "nvcc"), f"{self.old}/bin/nvcc\n")

    def test_given_toolkit(self):
        for options in (["-v", "12.8"], ["--version", "12.8"], ["--version=12.8"], ["-v12.8"], ["-q", "-v", "12.8"]):
            self.assert_prints(self.exec(*options, "--", "nvcc"), f"{self.new}/bin/nvcc\n")

    def test_separator_may_be_left_out(self):
        self.assert_prints(self.exec("nvcc"), f"{self.old}/bin/nvcc\n")
        self.assert_prints(self.exec("-v", "12.8", "nvcc"), f"{self.new}/bin/nvcc\n")

    def test_options_after_the_command_are_the_commands(self):
        tool = self.box.tool(self.old / "bin", "nvcc", 'printf "%s|" "$@"')
        for arguments in (["--help"], ["-v", "12.8"], ["--", "-q", "--"], ["--version"], ["--color", "x"]):
            self.assert_prints(self.exec("nvcc", *arguments), "".join(f"{argument}|" for argument in arguments))
            self.assert_prints(self.exec("--", tool, *arguments), "".join(f"{argument}|" for argument in arguments))

    def test_command_that_begins_with_a_dash(self):
        self.box.tool(self.old / "bin", "-tool")
        self.assert_prints(self.exec("--", "-tool"), f"{self.old}/bin/-tool\n")

    def test_not_installed_runs_nothing(self):
        mark = self.box.top / "ran"
        self.assert_fails(self.exec("-v", "11.8", "--", "touch", mark), 4, "CUDA 11.8 is not installed", "try: cudaenv install 11.8")
        self.select("11.8")
        self.assert_fails(self.exec("--", "touch", mark), 4)
        self.assertFalse(mark.exists())

    def test_version_variable_is_set_only_for_a_given_toolkit(self):
        show = ["--", "sh", "-c", 'echo "${CUDAENV_VERSION-unset}"']
        self.assert_prints(self.exec(*show), "unset\n")
        self.assert_prints(self.exec("-v", "12", *show), "12.8.1\n")
        self.assert_prints(self.exec("-v", "system", *show), "system\n")
        self.assert_prints(self.exec(*show, env={"CUDAENV_VERSION": "12"}), "12\n")

    def test_shim_in_a_pinned_subdirectory_obeys_the_given_toolkit(self):
        shim = self.box.shim("nvcc")
        self.select("12.8", self.box.project / "sub")
        for options, release in (([], self.new), (["-v", "12.4"], self.old)):
            result = self.exec(*options, "--", "sh", "-c", f"cd sub && {shim}")
            self.assert_prints(result, f"{release}/bin/nvcc\n")

    def test_system_finds_the_systems_tool(self):
        self.box.shim("nvcc")
        usr = self.box.tool("usr", "nvcc")
        path = f"{self.box.shims}:{usr.parent}:/usr/bin:/bin"
        self.assert_prints(self.exec("-v", "system", "--", "nvcc", env={"PATH": path}), f"{usr}\n")


class PassingOn(ExecTest):
    def test_every_byte_of_an_argument(self):
        arguments = [b"", b" ", b"*", b"$(id)", b"'\"\\", bytes(range(1, 256)), b"x" * 100000]
        result = self.exec("--", "cat", "/proc/self/cmdline", *arguments)
        self.assertEqual(result.stdout, b"\0".join([b"cat", b"/proc/self/cmdline", *arguments]) + b"\0")

    def test_stdin(self):
        self.assertEqual(self.exec("cat", input=b"a\0b").stdout, b"a\0b")

    def test_exit_status(self):
        for status in (0, 1, 2, 42, 126, 127, 255):
            result = self.exec("--", "sh", "-c", f"exit {status}")
            self.assertEqual((result.returncode, result.stderr), (status, b""))

    def test_signal(self):
        for name in ("TERM", "KILL", "INT"):
            self.assertEqual(self.exec("sh", "-c", f"kill -{name} $$").returncode, -getattr(signal, f"SIG{name}"))

    def test_same_process(self):
        result = self.box.run("/bin/sh", "-c", 'echo $$; exec "$0" exec sh -c "echo \\$\\$"', self.program)
        first, second = result.stdout.split()
        self.assertEqual(first, second)

    def test_signal_dispositions_umask_and_descriptors(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)

        def prepare():
            os.umask(0o027)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

        def state(*command):
            options = {"preexec_fn": prepare, "pass_fds": [writer], "restore_signals": False}
            status = self.box.run(*command, "/proc/self/status", **options).stdout.decode()
            wanted = [line for line in status.splitlines() if line.startswith(("Umask", "SigBlk", "SigIgn", "SigCgt"))]
            return wanted, self.box.run(*command, f"/proc/self/fdinfo/{writer}", **options).stdout
        direct = state(shutil.which("cat"))
        self.assertIn("Umask:\t0027", direct[0])
        self.assertEqual(state(self.program, "exec", "--", "cat"), direct)

    def test_default_sigpipe_stays_default(self):
        # A child of Python gets SIGPIPE back to its default.
        result = self.exec("--", "grep", "SigIgn", "/proc/self/status")
        self.assertEqual(int(result.stdout.split()[1], 16) & 1 << (signal.SIGPIPE - 1), 0)

    def test_output_before_that_of_the_command(self):
        file = self.select("12.4 12.8")
        result = self.exec("--", "sh", "-c", "echo later >&2")
        self.assertEqual(result.stderr.decode(), f'cudaenv: warning: {file}:1: only the first version counts, "12.8" is ignored\nlater\n')

    def test_users_variables_are_passed_on(self):
        variables = {"ODD": "\x01\udcff\n", "EMPTY": "", "A b": "c"}
        result = self.exec("--", "/usr/bin/env", "-0", env=variables)
        for name, value in variables.items():
            self.assertIn(os.fsencode(f"{name}={value}"), result.stdout.split(b"\0"))

    def test_closed_standard_descriptors(self):
        self.assert_prints(self.box.run("/bin/sh", "-c", '"$0" exec nvcc 0<&- 2>&-', self.program), f"{self.old}/bin/nvcc\n")


class Failing(ExecTest):
    def test_command_that_is_not_there(self):
        self.assert_fails(self.exec("--", "no-such-program"), 127, "cannot start no-such-program: No such file or directory")
        self.assert_fails(self.exec("--", "./nvcc"), 127, "cannot start ./nvcc")
        self.assert_fails(self.exec("--", ""), 127)
        self.assert_fails(self.exec("--", "\x1b[31m"), 127, "\\x1b[31m")

    def test_command_that_cannot_be_executed(self):
        plain = self.box.write("plain", "text")
        for command in (plain, self.box.project):
            result = self.exec("--", command)
            self.assertEqual(result.returncode, 126)
            self.assertIn(f"cannot start {command}: Permission denied".encode(), result.stderr)

    def test_no_command(self):
        for arguments in ([], ["--"], ["-v", "12.4"], ["-v", "12.4", "--"]):
            self.assert_fails(self.exec(*arguments), 2, "exec needs a command to run", "try: cudaenv exec -- nvcc --version")

    def test_misspelt_option(self):
        self.assert_fails(self.exec("--versoin", "12.4", "--", "nvcc"), 2, "--versoin", "did you mean --version?")


if __name__ == "__main__":
    unittest.main()
