#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command shim under whatever it may be started with: it has no libc to set things up for it."""

import os
import resource
import shutil
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest
from support.sandbox import execve_raw

SMALLEST_STACK = 32 << 10
LARGE_STACK = 64 << 20  # a quarter of it is for arguments and environment


def with_stack(size):
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, most))}


class Starting(ProgramTest):
    def setUp(self):
        super().setUp()
        self.cudaenv("rehash")
        self.nvcc = self.box.shims / "nvcc"
        self.select("12.8\n")

    def put_in_place_of_nvcc(self, program):
        tool = self.new / "bin" / "nvcc"
        tool.unlink()
        shutil.copy(shutil.which(program), tool)
        return tool

    def assert_missing(self, result):
        """The longest way through the shim: what is installed is listed, and told."""
        self.assertEqual((result.returncode, result.stdout), (127, b""))
        self.assertIn(b"installed: 12.4.1, 12.8.1", result.stderr)

    def assert_got(self, result, *arguments):
        """What a tool got that prints its command line."""
        self.assertEqual(result.stdout.split(b"\0")[:-1], [os.fsencode(part) for part in arguments], result.stderr)

    def test_small_stack(self):
        self.select("11.8\n")
        self.assert_missing(self.box.run(self.nvcc, **with_stack(SMALLEST_STACK)))
        self.box.shim("nvprof")
        self.select("12.8\n")
        result = self.box.run(self.box.shims / "nvprof", **with_stack(SMALLEST_STACK))
        self.assertIn(b"unknown tool nvprof", result.stderr)
        result = self.box.run(self.nvcc, env={"CUDAENV_VERSION": "system", "PATH": f"{self.box.shims}:{self.old}/bin"},
                              **with_stack(SMALLEST_STACK * 4))
        self.assertEqual(result.stdout.decode(), f"{self.old}/bin/nvcc\n")

    def test_small_stack_to_the_tool(self):
        tool = self.put_in_place_of_nvcc("cat")
        self.assertEqual(self.box.run(self.nvcc, "/proc/self/cmdline").returncode, 0)  # the gate decides
        arguments = ["/proc/self/cmdline", *["x"] * 5000]
        for size in (SMALLEST_STACK * 4, 1 << 20):
            result = self.box.run(self.nvcc, *arguments, **with_stack(size))
            self.assert_got(result, tool, *arguments)

    def test_thousands_of_arguments_through_a_call_that_asks(self):
        tool = self.put_in_place_of_nvcc("cat")
        arguments = ["/proc/self/cmdline", *(str(number) for number in range(50000))]
        for _ in range(2):
            result = self.box.run(self.nvcc, *arguments)
            self.assert_got(result, tool, *arguments)

    def test_environment_of_megabytes(self):
        self.put_in_place_of_nvcc("cat")
        large = {f"LARGE{number}": "x" * 100_000 for number in range(22)}
        many = {f"MANY{number}": "" for number in range(40_000)}
        for variables in (large, many):
            for _ in range(2):
                result = self.box.run(self.nvcc, "/proc/self/environ", env=variables, **with_stack(LARGE_STACK))
                found = dict(entry.split(b"=", 1) for entry in result.stdout.split(b"\0")[:-1])
                self.assertEqual({name: found.get(os.fsencode(name)) for name in variables},
                                 {name: os.fsencode(value) for name, value in variables.items()})
                self.assertEqual(found[b"CUDA_HOME"], os.fsencode(self.new))

    def test_without_any_variable(self):
        self.put_in_place_of_nvcc("cat")
        status, output = execve_raw(self.nvcc, [b"nvcc", b"/proc/self/environ"], [], self.box.project)
        self.assertEqual((status, output.count(b"\0")), (0, 3), output)

    def test_without_any_argument(self):
        for environment in ([], [b"HOME=" + os.fsencode(self.box.home)]):
            status, output = execve_raw(self.nvcc, [], environment, self.box.project)
            self.assertEqual(status, 127)
            self.assertTrue(output.startswith(b"cudaenv: a shim was started without a name"), output)

    def test_argument_of_the_greatest_length(self):
        tool = self.put_in_place_of_nvcc("cat")
        longest = b"x" * 131071
        status, output = execve_raw(self.nvcc, [b"nvcc", b"/proc/self/cmdline", longest],
                                    [b"HOME=" + os.fsencode(self.box.home)], self.box.project)
        self.assertTrue(output.startswith(os.fsencode(tool) + b"\0/proc/self/cmdline\0" + longest), output[:200])
        self.assertEqual(status, 1)  # there is no such file

    def test_name_of_the_greatest_length(self):
        status, output = execve_raw(self.nvcc, [b"n" * 131071], [b"CUDAENV_VERSION=auto"], self.box.project)
        self.assertNotEqual(status, 0)
        self.assertTrue(output.startswith(b"cudaenv: "), output[:200])
        self.assertLess(len(output), 10_000)


if __name__ == "__main__":
    unittest.main()
