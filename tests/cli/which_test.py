#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`which`, `whence` and `prefix`: where things really are."""

import os
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import ProgramTest

NO_NAMES = ["../nvcc", "bin/nvcc", "/usr/bin/env", ".", "..", "", "a/"]


class Which(ProgramTest):
    def test_SHIM_05_real_path_of_the_selected_toolkit(self):
        self.select("12.4")
        self.assert_prints(self.cudaenv("which", "nvcc"), f"{self.old}/bin/nvcc\n")
        self.assert_prints(self.cudaenv("which", "nvcc", env={"CUDAENV_VERSION": "12.8"}), f"{self.new}/bin/nvcc\n")

    def test_tool_of_another_toolkit(self):
        file = self.select("12.4")
        self.box.toolkit("11.8.0", ["nvprof"])
        error = self.assert_fails(self.cudaenv("which", "nvprof"), 3)
        self.assertEqual(error, f"cudaenv: nvprof is not in CUDA 12.4.1 (set by {file}:1)\n"
                                "  installed toolkits that have it: 11.8.0\n"
                                "try: cudaenv exec -v 11.8.0 -- nvprof\n")

    def test_misspelt_tool(self):
        self.select("12.4")
        self.assert_fails(self.cudaenv("which", "nvc"), 3, "unknown tool nvc: no installed toolkit has it", "try: cudaenv which nvcc\n")
        error = self.assert_fails(self.cudaenv("which", "something"), 3)
        self.assertNotIn("try:", error)

    def test_what_is_no_program_is_no_tool(self):
        self.select("12.4")
        self.box.write(self.old / "bin" / "nvcc.profile", "TOP = ..")
        (self.old / "bin" / "crt").mkdir()
        for name in ("nvcc.profile", "crt"):
            self.assert_fails(self.cudaenv("which", name), 3, f"unknown tool {name}: no installed toolkit has it")

    def test_VER_02_path_is_no_name_of_a_tool(self):
        self.select("12.4")
        for name in NO_NAMES:
            for command in ("which", "whence"):
                self.assert_fails(self.cudaenv(command, name), 2, f'"{name}" is not the name of a tool')
        self.assert_fails(self.cudaenv("which", "\x1b]0;x\x07"), 3, "unknown tool \\x1b]0;x\\x07:")

    def library(self, directory, name):
        return self.box.write(Path(directory) / name, "a library")

    def assert_library(self, done, path, why):
        self.assertEqual((done.returncode, done.stdout.decode(), done.stderr.decode()), (0, f"{path}\n", f"cudaenv: {why}\n"))

    def test_library_and_why_it_is_that_one(self):
        file = self.select("12.4")
        for toolkit in (self.old, self.new):
            self.library(toolkit / "lib", "libcudart.so.12")
        self.assert_library(self.cudaenv("which", "libcudart.so.12"), f"{self.old}/lib/libcudart.so.12", f"12.4.1, set by {file}:1")
        self.assert_library(self.cudaenv("which", "libcudart.so.12", env={"CUDAENV_VERSION": "12.8"}),
                            f"{self.new}/lib/libcudart.so.12", "12.8.1, set by the variable CUDAENV_VERSION")

    def test_library_that_the_selection_does_not_have(self):
        file = self.select("12.4")
        self.library(self.old / "lib", "libcudart.so.12")
        self.library(self.box.toolkit("11.8.0") / "lib64", "libcudart.so.11.0")
        error = self.assert_fails(self.cudaenv("which", "libcudart.so.11.0"), 3)
        self.assertEqual(error, f"cudaenv: this program needs libcudart.so.11.0, but CUDA 12.4.1 (set by {file}:1) provides libcudart.so.12\n"
                                "  installed toolkits that have it: 11.8.0\n"
                                "try: cudaenv exec -v 11.8.0 -- PROGRAM\n")
        self.assert_fails(self.cudaenv("which", "libcudart.so.13"), 3, "try: cudaenv install 13\n")
        self.assert_fails(self.cudaenv("which", "libcublas.so.12"), 3, "has no such library")

    def test_library_of_the_system(self):
        place = self.box.top / "elsewhere"
        path = {"LD_LIBRARY_PATH": f":{self.box.shims}/lib:{place}"}
        self.library(self.box.shims / "lib", "libcudart.so.12")  # stands for another, so it is none itself
        self.assert_fails(self.cudaenv("which", "libcudart.so.12", env=path), 3, "which the system does not have")
        library = self.library(place, "libcudart.so.12")
        self.assert_library(self.cudaenv("which", "libcudart.so.12", env=path), library, "system, nothing selects a toolkit here")

    def test_without_a_name(self):
        self.assert_fails(self.cudaenv("which"), 2, "tool is required", "try: cudaenv help which")

    def test_adopted_toolkit(self):
        self.box.tool("opt/cuda/bin", "nvcc")
        (self.box.root / "versions" / "distro").symlink_to(self.box.top / "opt" / "cuda")
        self.select("distro")
        self.assert_prints(self.cudaenv("which", "nvcc"), f"{self.box.root}/versions/distro/bin/nvcc\n")


class System(ProgramTest):
    def setUp(self):
        super().setUp()
        self.box.shim("nvcc")
        self.usr = self.box.tool("usr/bin", "nvcc").parent
        (self.box.top / "spelling").symlink_to(self.box.shims)
        self.shims = f"{self.box.shims}:{self.box.shims}/:{self.box.top}/spelling"

    def test_SHIM_01_system_is_the_first_that_is_no_shim(self):
        for env in ({"CUDAENV_VERSION": "system"}, {}):
            self.assert_prints(self.cudaenv("which", "nvcc", env={"PATH": f"{self.shims}:{self.usr}:/usr/bin", **env}),
                               f"{self.usr}/nvcc\n")

    def test_SHIM_01_nothing_but_shims(self):
        start = time.monotonic()
        self.assert_fails(self.cudaenv("which", "nvcc", env={"PATH": self.shims}), 3, "nvcc is not on PATH",
                          "installed toolkits that have it: 12.4.1, 12.8.1")
        self.assertLess(time.monotonic() - start, 1)

    def test_agrees_with_the_shim(self):
        path = f"{self.shims}:{self.usr}"
        shim = self.box.run(self.box.shims / "nvcc", env={"PATH": path})
        self.assertEqual(shim.stdout, self.cudaenv("which", "nvcc", env={"PATH": path}).stdout)


class Whence(ProgramTest):
    def test_lists_the_toolkits_that_have_it(self):
        self.box.toolkit("11.8.0", ["nvcc", "nvprof"])
        self.box.toolkit("13.0.2", ["nvcc"], root=self.box.top / "sw")
        env = {"CUDAENV_SHARED_ROOT": str(self.box.top / "sw")}
        self.assert_prints(self.cudaenv("whence", "nvcc", env=env), "11.8.0\n12.4.1\n12.8.1\n13.0.2\n")
        self.assert_prints(self.cudaenv("whence", "nvprof"), "11.8.0\n")

    def test_does_not_ask_for_a_selection(self):
        self.select("11.1")
        self.assert_prints(self.cudaenv("whence", "nvcc"), "12.4.1\n12.8.1\n")

    def test_nobody_has_it(self):
        self.assert_fails(self.cudaenv("whence", "ptxa"), 3, "no installed toolkit has ptxa", "ptxas\n")


class Prefix(ProgramTest):
    def test_directory_of_the_selected_or_the_given_toolkit(self):
        self.select("12.4")
        self.assert_prints(self.cudaenv("prefix"), f"{self.old}\n")
        self.assert_prints(self.cudaenv("prefix", "12"), f"{self.new}\n")
        self.assert_fails(self.cudaenv("prefix", "11"), 4, "CUDA 11 is not installed", "try: cudaenv install 11\n")

    def test_of_the_system_is_that_of_its_nvcc(self):
        self.box.shim("nvcc")
        self.box.tool("usr/local/cuda-12.2/bin", "nvcc")
        (self.box.top / "usr/local/cuda").symlink_to("cuda-12.2")
        path = f"{self.box.shims}:{self.box.top}/usr/local/cuda/bin"
        self.assert_prints(self.cudaenv("prefix", "system", env={"PATH": path}), f"{self.box.top}/usr/local/cuda-12.2\n")
        self.assert_fails(self.cudaenv("prefix", "system", env={"PATH": str(self.box.shims)}), 3, "nvcc is not on PATH")

    def test_path_with_odd_bytes_is_printed_as_it_is(self):
        root = self.box.top / "a b'$(id)\xe9"
        self.box.toolkit("12.4.1", root=root)
        result = self.cudaenv("prefix", "12.4", env={"CUDAENV_ROOT": str(root)})
        self.assertEqual(os.fsdecode(result.stdout), f"{root}/versions/12.4.1\n")


if __name__ == "__main__":
    unittest.main()
