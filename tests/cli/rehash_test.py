#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rehash`: what lies in ROOT/shims."""

import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.program import IS_ROOT, ProgramTest
from support.sandbox import NOBODY, PROGRAM, SHIM

HOST_TOOLS = ["gcc", "g++", "cc", "c++", "ld", "ar", "gdb", "python", "python3", "sh", "cudaenv"]


class RehashTest(ProgramTest):
    def rehash(self, **options):
        self.assert_prints(self.cudaenv("rehash", **options), "")

    def names(self):
        return sorted(os.listdir(self.box.shims))

    def assert_current(self, *names):
        self.assertEqual(self.names(), sorted(names))
        for name in names:
            file = self.box.shims / name
            self.assertEqual((file.read_bytes(), file.lstat().st_mode), (SHIM.read_bytes(), 0o100755), name)

    def old_shims(self, *names):
        """Shims of another version of the program, hard links of one file."""
        first = self.box.write(self.box.shims / names[0], b"\x7fELF old", 0o755)
        for name in names[1:]:
            os.link(first, self.box.shims / name)


class Rehash(RehashTest):
    def test_every_executable_of_every_toolkit(self):
        self.box.toolkit("11.8.0", ["nvprof", "cuda-gdb", "cu++filt", "__nvcc_device_query"])
        self.box.toolkit("13.0.2", ["tileiras"], root=self.box.top / "sw")
        self.box.tool("opt/cuda/bin", "nsys")
        (self.box.root / "versions" / "distro").symlink_to(self.box.top / "opt" / "cuda")
        self.rehash(env={"CUDAENV_SHARED_ROOT": str(self.box.top / "sw")})
        self.assert_current("nvcc", "ptxas", "nvprof", "cuda-gdb", "cu++filt", "__nvcc_device_query", "tileiras", "nsys")

    def test_SHIM_01_never_a_host_tool_nor_cudaenv(self):
        for name in HOST_TOOLS:
            self.box.tool(self.old / "bin", name)
        self.rehash()
        self.assert_current("nvcc", "ptxas")

    def test_SHIM_01_nor_one_with_a_target_or_a_version_in_its_name(self):
        for name in ("gcc-13", "x86_64-linux-gnu-g++-13", "python3.12", "python3-config", "pip3.12", "clang-14", "ld.gold",
                     "gcc-ar"):
            self.box.tool(self.old / "bin", name)
        self.rehash()
        self.assert_current("nvcc", "ptxas")

    def test_of_an_adopted_one_none_that_the_system_has(self):
        # As if /usr/bin had the CUDA tool of a distribution too, and an installed release a tool of the same name.
        for name in ("nsys", "ls", "cat", "site-tool"):
            self.box.tool("opt/site/bin", name)
        (self.box.root / "versions" / "site").symlink_to(self.box.top / "opt" / "site")
        self.rehash()
        self.assert_current("nvcc", "ptxas", "nsys", "site-tool")
        self.box.tool(self.old / "bin", "cat")
        self.rehash()
        self.assert_current("nvcc", "ptxas", "nsys", "site-tool", "cat")

    def test_SYS_03_what_others_lock_up_is_passed_over(self):
        shared = self.box.top / "sw"
        self.box.toolkit("13.0.2", root=shared)
        self.box.toolkit("13.1.0", ["tileiras"], root=shared)
        env = {"CUDAENV_SHARED_ROOT": str(shared)}
        if IS_ROOT:
            for directory in (self.box.root, self.box.shims):
                os.chown(directory, NOBODY, NOBODY)
        for locked in (shared / "versions" / "13.1.0" / "bin", shared):
            locked.chmod(0)
            self.addCleanup(locked.chmod, 0o755)
            self.assert_prints(self.as_user("rehash", env=env), "")
            self.assert_current("nvcc", "ptxas")

    def test_without_a_shim_program(self):
        alone = self.box.top / "alone" / "bin" / "cudaenv"
        alone.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, alone)
        self.assert_fails(self.box.run(alone, "rehash"), 1, "the shim program is missing: ")

    def test_only_what_can_be_run(self):
        self.box.write(self.old / "bin" / "nvcc.profile", "TOP = ..")
        self.box.write(self.old / "bin" / ".hidden", "", 0o755)
        (self.old / "bin" / "crt").mkdir()
        (self.old / "bin" / "dangling").symlink_to("nowhere")
        (self.old / "bin" / "cuda-gdb-minimal").symlink_to("nvcc")
        self.box.tool(self.box.root / "versions" / "12.9.0" / "bin", "unfinished")  # no receipt
        self.rehash()
        self.assert_current("nvcc", "ptxas", "cuda-gdb-minimal")

    def test_all_are_one_file(self):
        self.rehash()
        self.assertTrue((self.box.shims / "nvcc").samefile(self.box.shims / "ptxas"))
        self.assertEqual((self.box.shims / "nvcc").stat().st_nlink, 2)

    def test_they_work(self):
        self.rehash()
        self.select("12.4")
        self.assert_prints(self.box.run("nvcc"), f"{self.old}/bin/nvcc\n")

    def test_changed_program_replaces_all(self):
        self.old_shims("nvcc", "ptxas")
        self.rehash()
        self.assert_current("nvcc", "ptxas")
        self.assertTrue((self.box.shims / "nvcc").samefile(self.box.shims / "ptxas"))

    def test_broken_ones_are_replaced(self):
        self.rehash()
        (self.box.shims / "ptxas").unlink()
        self.box.write(self.box.shims / "ptxas", b"")
        self.rehash()
        self.assert_current("nvcc", "ptxas")

    def test_stale_names_go_and_the_library_shims_stay(self):
        self.old_shims("nvprof", "nvcc")
        library = self.box.write(self.box.shims / "lib" / "libcudart.so.12", "library")
        self.rehash()
        self.assertEqual(self.names(), ["lib", "nvcc", "ptxas"])
        self.assertEqual(library.read_text(), "library")

    def test_names_of_a_removed_toolkit_go(self):
        self.box.toolkit("11.8.0", ["nvprof"])
        self.rehash()
        shutil.rmtree(self.box.root / "versions" / "11.8.0")
        self.rehash()
        self.assert_current("nvcc", "ptxas")

    def test_link_is_replaced_and_never_written_through(self):
        precious = self.box.write("usr/bin/nvcc", "precious", 0o755)
        for name in ("nvcc", "ptxas"):
            (self.box.shims / name).symlink_to(precious)
        self.rehash()
        self.assert_current("nvcc", "ptxas")
        self.assertEqual(precious.read_text(), "precious")

    def test_running_one_is_not_disturbed(self):
        shutil.copy(shutil.which("sleep"), self.box.shims / "nvcc")
        running = subprocess.Popen([self.box.shims / "nvcc", "60"])
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.rehash()
        self.assert_current("nvcc", "ptxas")
        self.assertIsNone(running.poll())

    def test_second_time_changes_no_file(self):
        self.rehash()
        before = self.tree(self.box.shims)
        self.rehash()
        self.assertEqual(self.tree(self.box.shims), before)

    def test_without_toolkits_nothing_is_made(self):
        root = self.box.top / "none"
        self.rehash(env={"CUDAENV_ROOT": str(root)})
        self.assertFalse(root.exists())

    def test_last_toolkit_gone(self):
        self.rehash()
        shutil.rmtree(self.box.root / "versions")
        self.rehash()
        self.assert_current()

    def test_SYS_03_open_to_all_whatever_the_umask(self):
        root = self.box.top / "made"
        self.box.toolkit("12.4.1", root=root)
        self.rehash(env={"CUDAENV_ROOT": str(root)}, umask=0o077)
        self.assertEqual((root / "shims").stat().st_mode & 0o777, 0o755)
        self.assertEqual((root / "shims" / "nvcc").stat().st_mode & 0o777, 0o755)

    def test_SYS_03_read_only_root(self):
        self.box.shims.chmod(0o555)
        self.assert_fails(self.as_user("rehash"), 8, self.box.shims, "Permission denied")

    def test_verbose_says_what_changed(self):
        self.old_shims("nvprof")
        result = self.cudaenv("rehash", "--verbose")
        self.assertEqual(result.stderr.decode(), "cudaenv: shim added: nvcc\ncudaenv: shim added: ptxas\ncudaenv: shim removed: nvprof\n")


class Troubles(RehashTest):
    def traced(self, *options):
        """A rehash under strace, which makes a system call fail."""
        if not shutil.which("strace"):
            self.skipTest("no strace")
        result = self.box.run(shutil.which("strace"), "-qq", "-o", self.box.top / "trace", *options, self.program, "rehash")
        if b"ptrace" in result.stderr.lower():
            self.skipTest(f"strace does not work here: {result.stderr.decode()}")
        return result

    def test_SHIM_03_killed_half_way(self):
        self.old_shims("nvcc", "ptxas")
        for call in ("rename", "link"):
            with self.subTest(call=call):
                result = self.traced("-e", f"trace=/^{call}", "-e", f"inject=/^{call}:signal=KILL:when=1")
                self.assertNotEqual(result.returncode, 0)
                start = time.monotonic()
                self.rehash()
                self.assertLess(time.monotonic() - start, 2)
                self.assert_current("nvcc", "ptxas")
                (self.box.shims / "nvcc").unlink()
                (self.box.shims / "ptxas").unlink()
                self.old_shims("nvcc", "ptxas")

    def test_SHIM_03_what_a_killed_one_left_goes_though_nothing_else_is_to_do(self):
        self.rehash()
        left = self.box.write(self.box.shims / ".new-nvcc-1")
        self.rehash()
        self.assertFalse(left.exists())

    def test_file_system_without_hard_links(self):
        for error in ("EPERM", "EMLINK", "EOPNOTSUPP"):
            result = self.traced("-e", "trace=/^link", "-e", f"inject=/^link:error={error}")
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assert_current("nvcc", "ptxas")
            self.assertEqual((self.box.shims / "nvcc").stat().st_nlink, 1)
            for name in ("nvcc", "ptxas"):
                (self.box.shims / name).unlink()

    def test_disk_that_is_full(self):
        result = self.traced("-e", "trace=/^link", "-e", "inject=/^link:error=ENOSPC")
        self.assertEqual(result.returncode, 8)
        self.assertIn(b"No space left on device", result.stderr)
        self.rehash()
        self.assert_current("nvcc", "ptxas")

    def test_ten_at_once(self):
        self.old_shims("nvcc", "nvprof")
        command = [self.program, "rehash"]
        running = [subprocess.Popen(command, env=self.box.environment, cwd=self.box.project, stderr=subprocess.PIPE) for _ in range(10)]
        ended = [process.communicate() and process.returncode for process in running]
        self.assertEqual(ended, [0] * 10)
        self.assert_current("nvcc", "ptxas")


if __name__ == "__main__":
    unittest.main()
