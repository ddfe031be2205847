#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudaenv install` on disks that are full or read-only, interrupted, killed, and beside another one of its kind."""

import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.disk import IS_ROOT, DiskTest
from support.mirror import PLATFORM, File, listing, wait_until
from support.sandbox import NOBODY, PROGRAM

class Disks(DiskTest):
    def test_ARC_03_too_small_is_refused_before_the_download(self):
        server = self.serve()
        result, left = self.on_disk("size=32k", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           (f"not enough space in {self.box.root}/versions", "needed: at least", "free: 2",
                            "try: cudaenv install 12.8.1 --profile minimal\n"))
        self.assertEqual(left, [])
        self.assertFalse([request for request in server.requests if "archive" in request])

    def test_ARC_03_full_while_unpacking(self):
        self.publish("12.8.1", "libcublas", {"lib/large": File(bytes(2 << 20))})
        result, left = self.on_disk("size=1m", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           ("No space left on device", f"{self.box.root}/versions/", "lib/large", "df -h"))
        self.assertEqual(left, [])

    def test_ARC_03_full_of_files(self):
        result, left = self.on_disk("size=10m,nr_inodes=40", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8, f"{self.box.root}/versions/")
        self.assertEqual(left, [])

    def test_ARC_03_full_while_downloading(self):
        self.publish("12.8.1", "libcublas", {"lib/large": File(os.urandom(200_000))})
        fill = f"head -c 100000 /dev/zero >{self.box.root}/others"
        result, left = self.on_disk("size=2m", "install", "12.8.1", "--profile", "minimal", prepare=fill)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.serve()
        result, left = self.on_disk("size=400k", "install", "12.8.1", "--with", "libcublas", prepare=fill)
        left = [path for path in left if not path.startswith(f"{self.box.root}/cache")]
        self.assertEqual((result.returncode, left), (8, [f"{self.box.root}/others"]), result.stderr)

    def test_SYS_03_read_only_root(self):
        result, left = self.on_disk("ro", "install", "12.8.1")
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           (f"cannot create {self.box.root}/versions", "Read-only file system", "try: export CUDAENV_ROOT="))
        self.assertEqual(left, [])

    def test_SYS_03_read_only_root_with_toolkits(self):
        fill = f"mkdir -p {self.box.root}/versions/.staging-12.8.1-1-0 && mount -o remount,bind,ro {self.box.root}"
        result, left = self.on_disk("size=1m", "install", "12.8.1", prepare=fill)
        self.assert_failed(result.returncode, result.stdout, result.stderr, 8,
                           ("Read-only file system", "try: export CUDAENV_ROOT="))

    def test_tmp_is_not_used(self):
        for name in ("/dev/null", str(self.box.top / "none")):
            self.install("12.8.1", "--force", env={"TMPDIR": name})

    @unittest.skipUnless(IS_ROOT, "only root can become another user")
    def test_SYS_03_root_of_somebody_else(self):
        with self.unchanged():
            self.fails(8, "install", "12.8.1", user=NOBODY, says=(f"{self.box.root}/versions", "Permission denied",
                                                                  "try: export CUDAENV_ROOT="))

    def test_ARC_03_root_that_is_a_link(self):
        shutil.rmtree(self.box.root)
        (self.box.top / "disk").mkdir()
        self.box.root.symlink_to("../disk")
        self.install("12.8.1")
        self.assertEqual(os.listdir(self.box.top / "disk" / "versions"), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)
        self.done("uninstall", "12.8.1")
        self.assertEqual(os.listdir(self.box.top / "disk" / "versions"), [])

    def test_the_first_install_makes_the_root_and_a_failed_one_does_not(self):
        shutil.rmtree(self.box.root)
        archive = self.archive("12.8.1", "cuda_nvcc")
        archive.rename(archive.with_suffix(".away"))
        with self.unchanged():
            self.fails(3, "install", "12.8.1")
        archive.with_suffix(".away").rename(archive)
        self.install("12.8.1")
        self.assertEqual(sorted(os.listdir(self.box.root)), ["bin", "shims", "versions"])


    def test_shims_that_cannot_be_written(self):
        shutil.rmtree(self.box.shims)
        self.box.shims.write_text("")
        self.fails(8, "install", "12.8.1", says=(str(self.box.shims), "CUDA 12.8.1 itself is installed", "cudaenv rehash"))
        self.assertEqual(self.names(), ["12.8.1"])


class Ending(DiskTest):
    def start_and_wait(self, server, pattern, *arguments):
        """An install that has got as far as the request."""
        process = self.start("install", "12.8.1", *arguments)
        wait_until(lambda: any(re.search(pattern, request) for request in server.requests), pattern)
        return process

    def test_DL_11_ctrl_c_leaves_nothing(self):
        for fault, pattern in (("libcublas/*=slow:50", "libcublas"), ("libcublas/*=stall:100", "libcublas"),
                               ("libcublas/*=stall", "libcublas"), ("redistrib_*=stall:100", "redistrib"),
                               ("redistrib_*=slow:50", "redistrib")):
            for number in (signal.SIGINT, signal.SIGTERM):
                server = self.serve(fault)
                with self.subTest(fault=fault, signal=number), self.unchanged():
                    process = self.start_and_wait(server, pattern)
                    status, output, error, took = self.interrupt(process, number)
                    self.assert_failed(status, output, error, 130, "interrupted")
                    self.assertLess(took, 1)

    def test_DL_11_ctrl_c_while_it_waits_to_try_again(self):
        server = self.serve("redistrib_*=503")
        with self.unchanged():
            process = self.start_and_wait(server, "redistrib")
            status, output, error, took = self.interrupt(process)
            self.assert_failed(status, output, error, 130, "interrupted")
            self.assertLess(took, 1)

    def test_DL_11_a_force_that_is_interrupted_leaves_the_old_one(self):
        self.install("12.8.1")
        self.damage("12.8.1", "libcublas")
        server = self.serve("libcublas/*=stall:100")
        with self.unchanged():
            self.interrupt(self.start_and_wait(server, "libcublas", "--force"))

    def test_DL_11_killed_and_run_again(self):
        server = self.serve("libcublas/*=stall:100@1")
        process = self.start_and_wait(server, "libcublas")
        self.interrupt(process, signal.SIGKILL)
        self.assertTrue([name for name in os.listdir(self.box.root / "versions") if name.startswith(".staging-")])
        self.assertEqual(self.names(), [])
        self.fails(4, "local", "12.8.1", says="12.8.1 is not installed")
        self.install("12.8.1")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def test_DL_11_the_dead_staging_of_another_release_goes_too(self):
        server = self.serve("libcublas/*=stall:100@1")
        self.interrupt(self.start_and_wait(server, "libcublas"), signal.SIGKILL)
        self.install("12.8.0")
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.0"])

    def test_the_staging_of_a_living_one_stays(self):
        server = self.serve("libcublas/*=stall:100@1")
        process = self.start_and_wait(server, "libcublas")
        before = set(os.listdir(self.box.root / "versions"))
        self.assertTrue(before)
        self.install("12.8.0")
        self.assertLessEqual(before, set(os.listdir(self.box.root / "versions")))
        self.interrupt(process)
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.0"])


class Two(DiskTest):
    def test_SYS_04_two_of_the_same_release(self):
        for arguments in ((), ("--force",)):
            started = [self.start("install", "12.8.1", *arguments) for _ in range(3)]
            for process in started:
                error = process.communicate()[1]
                self.assertEqual(process.returncode, 0, error)
            self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)

    def test_SYS_04_two_with_other_components(self):
        """The one that waited is told what the other one's toolkit lacks."""
        server = self.serve("cuda_nvcc/*=slow:4000@1")
        first = self.start("install", "12.8.1", "--profile", "minimal")
        wait_until(lambda: any("cuda_nvcc" in request for request in server.requests), "the first one's download")
        started = {arguments: self.start("install", "12.8.1", *arguments)
                   for arguments in ((), ("--profile", "minimal"), ("--with", "nsight_systems"), ("--platform", PLATFORM))}
        self.assertEqual(first.communicate() and first.returncode, 0)
        for arguments, process in started.items():
            output, error = process.communicate()
            if "--with" in arguments:
                self.assert_failed(process.returncode, output, error, 2, (
                    "CUDA 12.8.1 is installed without ", "nsight_systems",
                    "try: cudaenv install 12.8.1 --with nsight_systems --force\n"))
            else:
                self.assertEqual(process.returncode, 0, error)
                self.assertIn("CUDA 12.8.1 is installed already", error)

    def test_SYS_04_two_releases_at_once(self):
        started = [self.start("install", release) for release in self.RELEASES]
        for process in started:
            self.assertEqual(process.communicate() and process.returncode, 0)
        self.assertEqual(self.names(), list(self.RELEASES))
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))
        self.assertIn("nvcc", os.listdir(self.box.shims))

    def test_SYS_04_one_waits_for_the_other_and_takes_over_when_it_dies(self):
        server = self.serve("libcublas/*=stall:100@1")
        first = self.start("install", "12.8.1")
        wait_until(lambda: any("libcublas" in request for request in server.requests), "the first one's download")
        second, third = self.start("install", "12.8.1"), self.start("install", "12.8.1")
        waiting = f"cudaenv: waiting for process {first.pid}, which installs the same release\n"
        self.wait_for_line(second, waiting)
        self.wait_for_line(third, waiting)
        status, _, error, took = self.interrupt(third)
        self.assertEqual(status, 130, error)
        self.assertLess(took, 1)
        first.kill()
        self.assertEqual(second.wait(), 0)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def wait_for_line(self, process, line):
        for read in iter(process.stderr.readline, ""):
            if read == line:
                return
        self.fail(f"never said: {line}")

    def test_SYS_04_without_locks_both_finish(self):
        library = self.library("int flock(int f, int o) { (void)f; (void)o; errno = ENOLCK; return -1; }")
        server = self.serve("libcublas/*=slow:1000@1")
        first = self.start("install", "12.8.1", env={"LD_PRELOAD": library})
        wait_until(lambda: any("libcublas" in request for request in server.requests), "the first one's download")
        self.install("12.8.1", env={"LD_PRELOAD": library})
        self.assertEqual(first.communicate() and first.returncode, 0)
        self.assertEqual(self.names(), ["12.8.1"])
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)


class Replacing(DiskTest):
    """--force while a tool of the old toolkit runs, and on a file system that cannot exchange two directories."""

    def setUp(self):
        super().setUp()
        self.install("12.8.1", "--profile", "minimal")
        (self.toolkit("12.8.1") / "old").write_text("")

    def run_tool(self):
        """A running program of the toolkit."""
        tool = self.toolkit("12.8.1") / "bin" / "busy\x1b[2J"
        shutil.copy(shutil.which("sleep"), tool)
        process = subprocess.Popen([tool, "60"], stdin=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        return process

    def end(self, tool):
        tool.kill()
        tool.wait()

    def replace_under(self, tool):
        """An install that has replaced the toolkit and waits for the tool."""
        process = self.start("install", "12.8.1", "--force")
        line = next(line for line in iter(process.stderr.readline, "") if "waiting for" in line)
        self.assertEqual(line, f"cudaenv: waiting for process {tool.pid} (busy\\x1b[2J), which runs from the CUDA 12.8.1 "
                               "that was replaced; Ctrl-C stops waiting\n")
        self.assertFalse((self.toolkit("12.8.1") / "old").exists())
        self.assertIn("V12.8.93", self.done("exec", "-v", "12.8.1", "nvcc", "--version").stdout)
        self.assert_has_its_file(tool)
        return process

    def assert_has_its_file(self, tool):
        self.assertTrue(os.path.exists(os.readlink(f"/proc/{tool.pid}/exe")))

    def test_force_waits_for_what_runs_from_the_old_toolkit(self):
        tool = self.run_tool()
        process = self.replace_under(tool)
        self.end(tool)
        self.assertEqual(process.communicate() and process.returncode, 0)
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])

    def test_ctrl_c_leaves_the_old_toolkit_until_nothing_runs_from_it(self):
        tool = self.run_tool()
        status, _, error, took = self.interrupt(self.replace_under(tool))
        self.assertEqual(status, 0, error)
        self.assertIn("still runs from the CUDA 12.8.1 that was replaced: the next install removes that one", error)
        self.assertLess(took, 1)
        self.install("12.8.0")
        self.assert_has_its_file(tool)
        self.end(tool)
        self.install("12.8.0", "--force")
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))

    def test_a_tool_that_started_the_install_is_not_waited_for(self):
        tool = self.toolkit("12.8.1") / "bin" / "build"
        shutil.copy(shutil.which("dash") or shutil.which("bash"), tool)
        result = self.box.run(tool, "-c", f"{PROGRAM} install 12.8.1 --force; exit $?", text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the next install removes that one", result.stderr)
        self.install("12.8.0")
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))

    def without_exchange(self, then=""):
        """The environment of a file system as NFS is. `then` is C that is run before each rename; it is that of the old
        tree `aside`, the `commit` of the new one, `back` after a failure, or the `last`, of the old one into the staging."""
        return {"LD_PRELOAD": self.library(f"""
            #include <fcntl.h>
            #include <signal.h>
            #include <stdio.h>
            #include <string.h>
            int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {{ errno = EINVAL; return -1; }}
            int rename(const char* from, const char* to) {{
              int from_aside = !!strstr(from, "/.old-12.8.1"), aside = !!strstr(to, "/.old-12.8.1");
              int to_place = !strcmp(strrchr(to, '/'), "/12.8.1");
              int commit = to_place && !from_aside, back = to_place && from_aside, last = from_aside && !to_place;
              (void)(aside + commit + back + last);
              {then}
              return renameat(AT_FDCWD, from, AT_FDCWD, to);
            }}""")}

    def force(self, **options):
        return self.cudaenv("install", "12.8.1", "--force", **options)

    def test_NFS_without_exchange_it_is_replaced_in_two_steps(self):
        self.assertEqual(self.force(env=self.without_exchange()).returncode, 0)
        self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])
        self.assertFalse((self.toolkit("12.8.1") / "old").exists())

    def test_NFS_killed_between_the_steps_the_old_one_comes_back(self):
        env = self.without_exchange("if (commit) raise(SIGKILL);")
        self.assertEqual(self.force(env=env).returncode, -signal.SIGKILL)
        self.assertEqual(self.names(), [])
        self.install("12.8.0")
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))
        self.assertTrue((self.toolkit("12.8.1") / "old").exists())
        self.assertEqual(self.force(env=env).returncode, -signal.SIGKILL)
        self.assertIn("installed already", self.install("12.8.1").stderr)
        self.assertTrue((self.toolkit("12.8.1") / "old").exists())

    def test_NFS_killed_after_the_steps_the_new_one_stays(self):
        self.assertEqual(self.force(env=self.without_exchange("if (last) raise(SIGKILL);")).returncode, -signal.SIGKILL)
        self.assertFalse((self.toolkit("12.8.1") / "old").exists())
        self.assertIn(".old-12.8.1", os.listdir(self.box.root / "versions"))
        self.install("12.8.0")
        self.assertEqual(sorted(os.listdir(self.box.root / "versions")), list(self.RELEASES))

    def test_NFS_a_rename_that_fails_loses_nothing(self):
        for when, names in (("aside", ["12.8.1"]), ("commit", ["12.8.1"]), ("commit || back", [])):
            with self.subTest(when=when):
                result = self.force(env=self.without_exchange(f"if ({when}) {{ errno = EIO; return -1; }}"))
                self.assertEqual(result.returncode, 8, result.stderr)
                self.assertEqual(self.names(), names)
                self.assertIn("installed already", self.install("12.8.1").stderr)
                self.assertTrue((self.toolkit("12.8.1") / "old").exists())
                self.assertEqual(os.listdir(self.box.root / "versions"), ["12.8.1"])


if __name__ == "__main__":
    unittest.main()
