#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv uninstall`: what it removes, what it refuses to, and whom it waits for."""

import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mirror import MirrorTest, listing, wait_until
from support.sandbox import DEADLINE, NOBODY, PROGRAM


class UninstallTest(MirrorTest):
    RELEASES = ("12.4.1", "12.8.0", "12.8.1")

    def setUp(self):
        super().setUp()
        for release in self.RELEASES:
            self.install(release, "--profile", "minimal")

    def assert_only(self, *names):
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), sorted(names))

    def copy_of(self, release):
        """A toolkit outside the root, to be adopted."""
        outside = self.box.top / "opt" / "cuda"
        outside.parent.mkdir(exist_ok=True)
        self.toolkit(release).rename(outside)
        return outside


class Removing(UninstallTest):
    def test_one(self):
        result = self.done("uninstall", "12.8.1")
        self.assertEqual(result.stdout, "")
        self.assert_only("12.4.1", "12.8.0")

    def test_an_older_one_that_was_moved_aside_does_not_come_back(self):
        versions = self.box.root / "versions"
        shutil.copytree(versions / "12.8.1", versions / ".old-12.8.1", symlinks=True)
        busy = versions / ".old-12.8.1" / "bin" / "busy"
        shutil.copy(shutil.which("sleep"), busy)
        with subprocess.Popen([busy, "60"]) as process:
            self.done("uninstall", "12.8.1")
            process.kill()
        self.done("uninstall", "12.4.1")
        self.assert_only("12.8.0")

    @unittest.skipUnless(os.geteuid() == 0, "only root can leave files that another user cannot remove")
    def test_what_another_user_left_is_in_nobodys_way(self):
        left = self.box.root / "versions" / ".staging-9.9.9-1-0" / "toolkit"
        left.mkdir(parents=True)
        for path in (self.box.root, *self.box.root.rglob("*")):
            if not path.is_symlink() and path.name != "toolkit":
                os.chown(path, NOBODY, NOBODY)
        os.chown(left.parent, 0, 0)
        result = self.cudaenv("uninstall", "12.8.1", user=NOBODY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_only(".staging-9.9.9-1-0", "12.4.1", "12.8.0")

    def test_several(self):
        self.done("uninstall", "v12.8.1", "cuda-12.4.1", "12.8.0")
        self.assert_only()

    def test_several_are_checked_before_the_first_is_removed(self):
        with self.unchanged():
            for bad, status in (("11.8.0", 4), ("12", 2), ("../x", 2)):
                self.fails(status, "uninstall", "12.8.1", bad)

    def test_the_same_twice(self):
        self.done("adopt", self.copy_of("12.8.0"), "--name", "distro")
        self.done("uninstall", "12.8.1", "distro", "12.8.1", "distro")
        self.assert_only("12.4.1")

    def test_shims_of_vanished_tools_go(self):
        self.install("12.8.1", "--force", "--profile", "full")
        self.assertIn("nsys", os.listdir(self.box.shims))
        self.done("uninstall", "12.8.1")
        self.assertNotIn("nsys", os.listdir(self.box.shims))
        self.assertIn("nvcc", os.listdir(self.box.shims))
        self.done("uninstall", "12.8.0", "12.4.1")
        self.assertEqual([name for name in os.listdir(self.box.shims) if not name.startswith(".") and name != "lib"], [])

    def test_read_only_files_and_directories(self):
        for directory in ("bin", "include", "."):
            (self.toolkit("12.8.1") / directory).chmod(0o555)
        self.done("uninstall", "12.8.1")
        self.assert_only("12.4.1", "12.8.0")

    def test_a_link_in_the_tree_is_not_followed(self):
        outside = self.box.write("precious/file", "data").parent
        (self.toolkit("12.8.1") / "bin" / "outside").symlink_to(outside)
        (self.toolkit("12.8.1") / "samples").symlink_to(self.box.home)
        self.done("uninstall", "12.8.1")
        self.assertTrue((outside / "file").exists())

    def test_an_adopted_one_loses_only_its_link(self):
        outside = self.copy_of("12.8.1")
        self.done("adopt", outside)
        self.done("adopt", outside, "--name", "distro")
        with self.unchanged(outside):
            self.done("uninstall", "12.8.1", "distro")
        self.assert_only("12.4.1", "12.8.0")

    def test_an_adopted_one_whose_directory_is_gone(self):
        outside = self.copy_of("12.8.1")
        self.done("adopt", outside)
        self.done("adopt", outside, "--name", "distro")
        shutil.rmtree(outside)
        self.done("uninstall", "12.8.1", "distro")
        self.assert_only("12.4.1", "12.8.0")


class Refusing(UninstallTest):
    def test_one_that_is_not_installed(self):
        with self.unchanged():
            self.fails(4, "uninstall", "11.8.0", says=("11.8.0 is not installed", "try: cudaenv versions"))
            self.fails(4, "uninstall", "distro", says="distro is not installed")

    def test_VER_02_text_with_a_path_in_it(self):
        with self.unchanged(self.box.home, self.mirror, self.box.top / "tmp"):
            for spec in ("..", ".", "../x", "12.8.1/../..", "/", "12.8.1/", "./12.8.1", "$(id)", "*", "", "12.8.1\n",
                         str(self.toolkit("12.8.1")), ".lock-12.8.1"):
                with self.subTest(spec=spec):
                    self.fails(2, "uninstall", spec, says="is not a version")
            self.fails(2, "uninstall", "-rf")
            self.fails(2, "uninstall", "--", "-rf", says="is not a version")
            self.fails(2, "uninstall")

    def test_part_of_a_version(self):
        with self.unchanged():
            self.fails(2, "uninstall", "12.8", says=("needs a whole version", "installed: 12.8.0, 12.8.1",
                                                     "try: cudaenv versions"))
            for spec in ("12", "latest", "auto", "system"):
                self.fails(2, "uninstall", spec, says="needs a whole version")

    def test_SYS_03_one_of_the_shared_root(self):
        shared = self.box.top / "shared"
        (shared / "versions").mkdir(parents=True)
        self.toolkit("12.8.1").rename(shared / "versions" / "12.8.1")
        with self.unchanged(self.box.home, shared):
            self.fails(8, "uninstall", "12.8.1", env={"CUDAENV_SHARED_ROOT": str(shared)},
                       says=(f"12.8.1 is in the shared root {shared}",
                             f"try: CUDAENV_ROOT={shared} cudaenv uninstall 12.8.1"))

    def test_without_a_shim_program_nothing_is_removed(self):
        alone = self.box.top / "alone" / "bin" / "cudaenv"
        alone.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, alone)
        with self.unchanged():
            result = self.box.run(alone, "uninstall", "12.8.1", text=True)
            self.assert_failed(result.returncode, result.stdout, result.stderr, 1, "the shim program is missing: ")

    def test_shims_that_cannot_be_written_are_told_apart(self):
        shutil.rmtree(self.box.shims)
        self.box.write(self.box.shims, "a file")
        self.fails(8, "uninstall", "12.4.1", "12.8.1", says=(
            "the shims are not up to date", "12.4.1 was removed; 12.8.1 is untouched", "try: cudaenv rehash"))
        self.assert_only("12.8.0", "12.8.1")

    def test_a_directory_that_is_no_toolkit(self):
        (self.box.root / "versions" / "mine").mkdir()
        self.fails(4, "uninstall", "mine", says="mine is not installed")
        self.assert_only("mine", *self.RELEASES)


class Running(UninstallTest):
    def start_tool(self, *command):
        tool = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (tool.poll() is None and tool.kill(), tool.communicate()))
        self.assertIn("waiting", tool.stdout.readline())
        return tool

    def waiting(self, process, pid, name="nvcc"):
        self.assertEqual(process.stderr.readline(), f"cudaenv: waiting for process {pid} ({name}), which runs from 12.8.1; "
                                                    "Ctrl-C stops and keeps the toolkit\n")

    def test_a_running_tool_finishes(self):
        tool = self.start_tool(str(self.toolkit("12.8.1") / "bin" / "nvcc"), "--wait")
        process = self.start("uninstall", "12.8.1")
        self.waiting(process, tool.pid)
        self.assertEqual(self.names(), list(self.RELEASES))
        self.assertIsNone(process.poll())
        tool.send_signal(signal.SIGTERM)
        tool.wait()
        self.assertEqual(process.wait(DEADLINE), 0)
        self.assert_only("12.4.1", "12.8.0")

    def test_ctrl_c_while_it_waits_removes_nothing(self):
        tool = self.start_tool(str(self.toolkit("12.8.1") / "bin" / "nvcc"), "--wait")
        before = listing(self.box.root / "versions")
        process = self.start("uninstall", "12.8.1")
        self.waiting(process, tool.pid)
        status, output, error, took = self.interrupt(process)
        self.assert_failed(status, output, error, 130, ("cudaenv: interrupted\n", "12.8.1 is untouched"))
        self.assertLess(took, 1)
        self.assertEqual(listing(self.box.root / "versions"), before)

    def test_ctrl_c_says_what_was_removed_before(self):
        tool = self.start_tool(str(self.toolkit("12.8.1") / "bin" / "nvcc"), "--wait")
        process = self.start("uninstall", "12.4.1", "12.8.1", "12.8.0")
        self.waiting(process, tool.pid)
        status, output, error, _ = self.interrupt(process)
        self.assert_failed(status, output, error, 130, (
            "cudaenv: interrupted\n", "12.4.1 was removed; 12.8.1 is untouched; 12.8.0 is untouched"))
        self.assert_only("12.8.0", "12.8.1")

    def test_the_name_of_the_tool_is_escaped(self):
        odd = shutil.copy(self.toolkit("12.8.1") / "bin" / "nvcc", self.toolkit("12.8.1") / "bin" / "x\x1b[2J")
        tool = self.start_tool(str(odd), "--wait")
        self.waiting(self.start("uninstall", "12.8.1"), tool.pid, "x\\x1b[2J")

    def test_a_tool_that_started_the_uninstall_is_not_waited_for(self):
        debugger = shutil.copy(shutil.which("sh"), self.toolkit("12.8.1") / "bin" / "cuda-gdb")
        other = self.start_tool(str(self.toolkit("12.8.1") / "bin" / "nvcc"), "--wait")
        with self.unchanged():
            result = self.box.run(debugger, "-c", '"$0" uninstall 12.4.1 12.8.1; exit $?', PROGRAM, text=True)
        self.assert_failed(result.returncode, result.stdout, result.stderr, 2,
                           ("(cuda-gdb), which runs from 12.8.1, has started this uninstall", "end that program first"))
        self.assertIsNone(other.poll())

    def test_a_tool_of_another_toolkit_is_not_waited_for(self):
        self.start_tool(str(self.toolkit("12.8.0") / "bin" / "nvcc"), "--wait")
        self.done("uninstall", "12.8.1")

    def test_an_install_of_the_same_release_is_waited_for(self):
        self.damage("12.8.1", "cuda_nvcc")
        server = self.serve("cuda_nvcc/*=stall:100@1")
        installing = self.start("install", "12.8.1", "--force")
        wait_until(lambda: any("cuda_nvcc" in request for request in server.requests), "the download")
        process = self.start("uninstall", "12.8.1")
        self.assertEqual(process.stderr.readline(),
                         f"cudaenv: waiting for process {installing.pid}, which works on 12.8.1\n")
        self.interrupt(installing)
        self.assertEqual(process.wait(DEADLINE), 0)
        self.assert_only("12.4.1", "12.8.0")

    def test_two_at_once(self):
        for process in [self.start("uninstall", "12.8.1") for _ in range(2)]:
            error = process.communicate()[1]
            self.assertIn(process.returncode, (0, 4), error)
        self.assert_only("12.4.1", "12.8.0")


if __name__ == "__main__":
    unittest.main()
